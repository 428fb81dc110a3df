/* Matrix instructions, by what their makers say of them: NVIDIA in the PTX ISA ("Matrix fragments for mma"), AMD in the
 * instruction set manuals of CDNA and RDNA.
 *
 *   A m x k, B k x n, C and D m x n; which element a lane has in which register:
 *
 *   mma m16n8          A row lane/4 (+ 8 in odd pairs), columns 2 or 1 beside each other by lane%4; C the same
 *   mfma MxM           A row lane%M, columns by lane/M;  C column lane%M, rows in fours by lane/M
 *   wmma 16x16x16      A row lane%16, all columns, lanes 16 to 31 the same again;  C column lane%16, rows 2*register + lane/16
 *   the same, halves   A row lane%16, columns in eights by lane/16;  C column lane%16, rows in eights by lane/16
 *   wgmma m64          A and B in shared memory; C of warp w of four as C of mma m16n8, for each 8 columns, from row 16*w on
 *   tcgen05 m128       A and B in shared memory; C row of the thread, all columns
 *
 * All lanes come with their registers, the products are summed up in f32 in ascending k, and each lane gets its part. */

#include "emulate.h"

#pragma STDC FP_CONTRACT OFF

enum { MOST_LANES = 64, MOST_ELEMENTS = 32 * 32 };

enum element { F16, BF16, TF32, F32 };

struct place {
  uint32_t row, column;
};

typedef struct place layout(uint32_t lane, uint32_t element);

/* A lane's elements of A, B and C, in the order of its registers. */
struct instruction {
  const char *name;
  uint32_t m, n, k, lanes;
  enum element type;
  uint32_t a_elements, b_elements, c_elements;
  layout *a, *b, *c;
};

static struct place at(uint32_t row, uint32_t column) { return (struct place){row, column}; }

/* Two elements side by side in a register. */
static struct place a_m16k16(uint32_t lane, uint32_t i) {
  return at(lane / 4 + (i / 2 % 2) * 8, lane % 4 * 2 + i % 2 + i / 4 * 8);
}
static struct place b_k16n8(uint32_t lane, uint32_t i) { return at(lane % 4 * 2 + i % 2 + i / 2 * 8, lane / 4); }
/* One element in a register. */
static struct place a_m16k8(uint32_t lane, uint32_t i) { return at(lane / 4 + i % 2 * 8, lane % 4 + i / 2 * 4); }
static struct place b_k8n8(uint32_t lane, uint32_t i) { return at(lane % 4 + i * 4, lane / 4); }
static struct place c_m16n8(uint32_t lane, uint32_t i) { return at(lane / 4 + i / 2 * 8, lane % 4 * 2 + i % 2); }

static struct place a_m16k16_by_4(uint32_t lane, uint32_t i) { return at(lane % 16, lane / 16 * 4 + i); }
static struct place b_k16n16_by_4(uint32_t lane, uint32_t i) { return at(lane / 16 * 4 + i, lane % 16); }
static struct place a_m16k4(uint32_t lane, uint32_t i) { return at(lane % 16, lane / 16 + i); }
static struct place b_k4n16(uint32_t lane, uint32_t i) { return at(lane / 16 + i, lane % 16); }
static struct place c_m16n16_by_4(uint32_t lane, uint32_t i) { return at(lane / 16 * 4 + i, lane % 16); }
static struct place a_m32k8(uint32_t lane, uint32_t i) { return at(lane % 32, lane / 32 * 4 + i); }
static struct place b_k8n32(uint32_t lane, uint32_t i) { return at(lane / 32 * 4 + i, lane % 32); }
static struct place a_m32k2(uint32_t lane, uint32_t i) { return at(lane % 32, lane / 32 + i); }
static struct place b_k2n32(uint32_t lane, uint32_t i) { return at(lane / 32 + i, lane % 32); }
static struct place c_m32n32(uint32_t lane, uint32_t i) { return at(i / 4 * 8 + lane / 32 * 4 + i % 4, lane % 32); }

static struct place a_m16_by_8(uint32_t lane, uint32_t i) { return at(lane % 16, lane / 16 * 8 + i); }
static struct place b_n16_by_8(uint32_t lane, uint32_t i) { return at(lane / 16 * 8 + i, lane % 16); }
static struct place a_m32_by_8(uint32_t lane, uint32_t i) { return at(lane % 32, lane / 32 * 8 + i); }
static struct place b_n32_by_8(uint32_t lane, uint32_t i) { return at(lane / 32 * 8 + i, lane % 32); }

static struct place a_row(uint32_t lane, uint32_t i) { return at(lane % 16, i); }
static struct place b_column(uint32_t lane, uint32_t i) { return at(i, lane % 16); }
static struct place c_m16(uint32_t lane, uint32_t i) {
  return at(lane / 4 + i / 2 % 2 * 8, i / 4 * 8 + lane % 4 * 2 + i % 2);
}

static struct place c_m32(uint32_t lane, uint32_t i) { return at(lane, i); }

static struct place c_by_2(uint32_t lane, uint32_t i) { return at(2 * i + lane / 16, lane % 16); }

static const struct instruction instructions[FUSION_INSTRUCTIONS] = {
    [FUSION_MMA_M16N8K16_F16] = {"mma.m16n8k16 f16", 16, 8, 16, 32, F16, 8, 4, 4, a_m16k16, b_k16n8, c_m16n8},
    [FUSION_MMA_M16N8K16_BF16] = {"mma.m16n8k16 bf16", 16, 8, 16, 32, BF16, 8, 4, 4, a_m16k16, b_k16n8, c_m16n8},
    [FUSION_MMA_M16N8K8_TF32] = {"mma.m16n8k8 tf32", 16, 8, 8, 32, TF32, 4, 2, 4, a_m16k8, b_k8n8, c_m16n8},
    [FUSION_MFMA_16X16X16_F16] = {"mfma 16x16x16 f16", 16, 16, 16, 64, F16, 4, 4, 4, a_m16k16_by_4, b_k16n16_by_4, c_m16n16_by_4},
    [FUSION_MFMA_16X16X16_BF16] = {"mfma 16x16x16 bf16", 16, 16, 16, 64, BF16, 4, 4, 4, a_m16k16_by_4, b_k16n16_by_4,
                                   c_m16n16_by_4},
    [FUSION_MFMA_32X32X8_F16] = {"mfma 32x32x8 f16", 32, 32, 8, 64, F16, 4, 4, 16, a_m32k8, b_k8n32, c_m32n32},
    [FUSION_MFMA_32X32X8_BF16] = {"mfma 32x32x8 bf16", 32, 32, 8, 64, BF16, 4, 4, 16, a_m32k8, b_k8n32, c_m32n32},
    [FUSION_MFMA_16X16X4_F32] = {"mfma 16x16x4 f32", 16, 16, 4, 64, F32, 1, 1, 4, a_m16k4, b_k4n16, c_m16n16_by_4},
    [FUSION_MFMA_32X32X2_F32] = {"mfma 32x32x2 f32", 32, 32, 2, 64, F32, 1, 1, 16, a_m32k2, b_k2n32, c_m32n32},
    [FUSION_WMMA_16X16X16_F16] = {"wmma 16x16x16 f16", 16, 16, 16, 32, F16, 16, 16, 8, a_row, b_column, c_by_2},
    [FUSION_WMMA_16X16X16_BF16] = {"wmma 16x16x16 bf16", 16, 16, 16, 32, BF16, 16, 16, 8, a_row, b_column, c_by_2},
    [FUSION_WGMMA_M64N64K64_F16] = {"wgmma m64n64 f16", 64, 64, 64, 128, F16, 0, 0, 32, NULL, NULL, c_m16},
    [FUSION_WGMMA_M64N64K64_BF16] = {"wgmma m64n64 bf16", 64, 64, 64, 128, BF16, 0, 0, 32, NULL, NULL, c_m16},
    [FUSION_WGMMA_M64N128K64_F16] = {"wgmma m64n128 f16", 64, 128, 64, 128, F16, 0, 0, 64, NULL, NULL, c_m16},
    [FUSION_WGMMA_M64N128K64_BF16] = {"wgmma m64n128 bf16", 64, 128, 64, 128, BF16, 0, 0, 64, NULL, NULL, c_m16},
    [FUSION_WGMMA_M64N256K64_F16] = {"wgmma m64n256 f16", 64, 256, 64, 128, F16, 0, 0, 128, NULL, NULL, c_m16},
    [FUSION_WGMMA_M64N256K64_BF16] = {"wgmma m64n256 bf16", 64, 256, 64, 128, BF16, 0, 0, 128, NULL, NULL, c_m16},
    [FUSION_WGMMA_M64N64K32_TF32] = {"wgmma m64n64 tf32", 64, 64, 32, 128, TF32, 0, 0, 32, NULL, NULL, c_m16},
    [FUSION_WGMMA_M64N128K32_TF32] = {"wgmma m64n128 tf32", 64, 128, 32, 128, TF32, 0, 0, 64, NULL, NULL, c_m16},
    [FUSION_WGMMA_M64N256K32_TF32] = {"wgmma m64n256 tf32", 64, 256, 32, 128, TF32, 0, 0, 128, NULL, NULL, c_m16},
    [FUSION_WMMA_16X16X16_HALVES_F16] = {"wmma 16x16x16 halves f16", 16, 16, 16, 32, F16, 8, 8, 8, a_m16_by_8, b_n16_by_8,
                                         b_n16_by_8},
    [FUSION_WMMA_16X16X16_HALVES_BF16] = {"wmma 16x16x16 halves bf16", 16, 16, 16, 32, BF16, 8, 8, 8, a_m16_by_8, b_n16_by_8,
                                          b_n16_by_8},
    [FUSION_MFMA_16X16X32_F16] = {"mfma 16x16x32 f16", 16, 16, 32, 64, F16, 8, 8, 4, a_m16_by_8, b_n16_by_8, c_m16n16_by_4},
    [FUSION_MFMA_16X16X32_BF16] = {"mfma 16x16x32 bf16", 16, 16, 32, 64, BF16, 8, 8, 4, a_m16_by_8, b_n16_by_8, c_m16n16_by_4},
    [FUSION_MFMA_32X32X16_F16] = {"mfma 32x32x16 f16", 32, 32, 16, 64, F16, 8, 8, 16, a_m32_by_8, b_n32_by_8, c_m32n32},
    [FUSION_MFMA_32X32X16_BF16] = {"mfma 32x32x16 bf16", 32, 32, 16, 64, BF16, 8, 8, 16, a_m32_by_8, b_n32_by_8, c_m32n32},
    [FUSION_TCGEN05_M128N64K64_F16] = {"tcgen05 m128n64 f16", 128, 64, 64, 128, F16, 0, 0, 64, NULL, NULL, c_m32},
    [FUSION_TCGEN05_M128N64K64_BF16] = {"tcgen05 m128n64 bf16", 128, 64, 64, 128, BF16, 0, 0, 64, NULL, NULL, c_m32},
    [FUSION_TCGEN05_M128N128K64_F16] = {"tcgen05 m128n128 f16", 128, 128, 64, 128, F16, 0, 0, 128, NULL, NULL, c_m32},
    [FUSION_TCGEN05_M128N128K64_BF16] = {"tcgen05 m128n128 bf16", 128, 128, 64, 128, BF16, 0, 0, 128, NULL, NULL, c_m32},
};

/* Elements. */

static float of_bits(uint32_t bits) {
  float value;
  memcpy(&value, &bits, 4);
  return value;
}

static float of_f16(uint16_t half) {
  uint32_t sign = (uint32_t)(half & 0x8000) << 16, exponent = half >> 10 & 31, mantissa = half & 1023;
  if (exponent == 31)
    return of_bits(sign | 0x7f800000 | mantissa << 13);
  if (exponent != 0)
    return of_bits(sign | (exponent + 112) << 23 | mantissa << 13);
  float small = (float)mantissa * 0x1p-24f;
  return sign ? -small : small;
}

/* Ten bits of the mantissa stay, the nearest ones, ties to even. */
static float to_tf32(float value) {
  uint32_t bits;
  memcpy(&bits, &value, 4);
  if ((bits & 0x7f800000) == 0x7f800000)
    return value;
  bits += 0xfff + (bits >> 13 & 1);
  return of_bits(bits & ~0x1fffu);
}

static float element(enum element type, const void *registers, uint32_t i) {
  if (type == TF32 || type == F32) {
    float value;
    memcpy(&value, (const char *)registers + 4 * i, 4);
    return type == TF32 ? to_tf32(value) : value;
  }
  uint16_t half;
  memcpy(&half, (const char *)registers + 2 * i, 2);
  return type == F16 ? of_f16(half) : of_bits((uint32_t)half << 16);
}

static void all_there(struct worker *worker, struct warp *warp, uint32_t lanes, const char *name) {
  if (worker->warp_size != lanes || warp->count != lanes)
    fusion_emulated_fail(worker, warp->threads, "%s is of %u threads, but this warp has %u", name, lanes, warp->count);
}

/* Gathers A or B of rows of `columns`; lanes that have the same element must agree on it. */
static void gather(struct worker *worker, struct warp *warp, const struct instruction *row, _Bool is_a, uint32_t columns,
                   float *matrix) {
  uint16_t owner[MOST_ELEMENTS];
  memset(owner, 0xff, sizeof owner);
  for (uint32_t lane = 0; lane < row->lanes; lane++) {
    const struct request *r = &warp->threads[lane].request;
    for (uint32_t i = 0; i < (is_a ? row->a_elements : row->b_elements); i++) {
      struct place place = (is_a ? row->a : row->b)(lane, i);
      uint32_t at = place.row * columns + place.column;
      float value = element(row->type, is_a ? r->a : r->b, i);
      if (owner[at] != NOBODY && memcmp(&value, &matrix[at], 4))
        fusion_emulated_fail(worker, &warp->threads[lane],
                             "%s wants the same element %u of %s from threads %u and %u of the warp, but they are different",
                             row->name, i, is_a ? "A" : "B", owner[at], lane);
      owner[at] = (uint16_t)lane;
      matrix[at] = value;
    }
  }
}

void fusion_do_matrix(struct worker *worker, struct warp *warp) {
  uint32_t which = (uint32_t)warp->threads[0].request.what;
  for (uint32_t lane = 0; lane < warp->count; lane++) {
    const struct thread *thread = &warp->threads[lane];
    if ((uint32_t)thread->request.what != which || which >= FUSION_INSTRUCTIONS)
      fusion_emulated_fail(worker, thread, "it came to matrix instruction %d, the first thread of its warp to %d",
                           thread->request.what, (int)which);
  }
  const struct instruction *row = &instructions[which];
  if (!row->a)
    fusion_emulated_fail(worker, warp->threads, "%s takes its factors from shared memory", row->name);
  all_there(worker, warp, row->lanes, row->name);
  float a[MOST_ELEMENTS], b[MOST_ELEMENTS], d[MOST_ELEMENTS];
  gather(worker, warp, row, 1, row->k, a);
  gather(worker, warp, row, 0, row->n, b);
  for (uint32_t lane = 0; lane < row->lanes; lane++)
    for (uint32_t i = 0; i < row->c_elements; i++) {
      struct place place = row->c(lane, i);
      d[place.row * row->n + place.column] = element(F32, warp->threads[lane].request.c, i);
    }
  for (uint32_t i = 0; i < row->m; i++)
    for (uint32_t l = 0; l < row->k; l++)
      for (uint32_t j = 0; j < row->n; j++)
        d[i * row->n + j] += a[i * row->k + l] * b[l * row->n + j];
  for (uint32_t lane = 0; lane < row->lanes; lane++)
    for (uint32_t i = 0; i < row->c_elements; i++) {
      struct place place = row->c(lane, i);
      memcpy((char *)warp->threads[lane].request.d + 4 * i, &d[place.row * row->n + place.column], 4);
    }
}

void fusion_emulated_matrix(int32_t instruction, const void *a, const void *b, const void *c, void *d) {
  fusion_collective(fusion_worker(), &(struct request){.kind = MATRIX, .what = instruction, .a = a, .b = b, .c = c, .d = d});
}

/* Which byte of shared memory has what would be there if groups of 16 bytes were not exchanged: bits 7 to 9 of its number say with which. */
static const char *swizzled(const struct worker *worker, const char *place) {
  uint64_t byte = (uint64_t)(place - (const char *)worker->shared);
  return (const char *)worker->shared + (byte ^ (byte >> 3 & 0x70));
}

/* An element of a factor in shared memory: lines of 128 bytes, one below the other. Of those that are transposed, lines are along what is
 * not summed up, 64 elements of it; the next ones are in the next panel. */
static const char *of_factor(const struct worker *worker, const struct request *r, uint32_t size, _Bool is_a, uint32_t own,
                             uint32_t deep) {
  const char *begin = is_a ? r->a : r->b;
  int64_t byte = 128 * (int64_t)own + size * (int64_t)deep;
  if (!is_a && r->width)
    byte = r->bits * (own / 64) + 128 * (int64_t)deep + 2 * (own % 64);
  return swizzled(worker, begin + byte);
}

/* A quarter of the rows, by one of the four warps. */
void fusion_do_multiply_shared(struct worker *worker, struct warp *warp) {
  enum { MOST_SUMS = 32 * 128, MOST_COLUMNS = 256 };
  const struct request *r = &warp->threads[0].request;
  const struct instruction *row = (uint32_t)r->what < FUSION_INSTRUCTIONS ? &instructions[r->what] : NULL;
  for (uint32_t lane = 0; lane < warp->count; lane++) {
    const struct request *other = &warp->threads[lane].request;
    if (!row || row->a || row->n > MOST_COLUMNS || row->m / 4 * row->n > MOST_SUMS || other->what != r->what ||
        other->a != r->a || other->b != r->b || other->width != r->width || other->bits != r->bits)
      fusion_emulated_fail(worker, &warp->threads[lane],
                           "it came to instruction %d on shared memory with other factors than the first thread of its warp, which came "
                           "to %d; all threads of four warps multiply the same",
                           other->what, r->what);
  }
  all_there(worker, warp, 32, row->name);
  if (worker->count % row->lanes)
    fusion_emulated_fail(worker, warp->threads, "%s is of four warps, but the block has %u threads", row->name, worker->count);
  if (((uintptr_t)r->a | (uintptr_t)r->b) % 16)
    fusion_emulated_fail(worker, warp->threads, "%s reads from an address that is not a multiple of 16 bytes", row->name);
  uint32_t rows = row->m / 4, first = warp->threads[0].number / 32 % 4 * rows, size = row->type == TF32 ? 4 : 2;
  if (r->width && size != 2)
    fusion_emulated_fail(worker, warp->threads, "%s reads columns of its right factor only, which lie together", row->name);
  float d[MOST_SUMS], b[MOST_COLUMNS];
  for (uint32_t lane = 0; lane < 32; lane++)
    for (uint32_t i = 0; i < row->c_elements; i++) {
      struct place place = row->c(lane, i);
      d[place.row * row->n + place.column] = element(F32, warp->threads[lane].request.c, i);
    }
  for (uint32_t l = 0; l < row->k; l++) {
    const struct thread *reader = &warp->threads[l % 32];
    for (uint32_t j = 0; j < row->n; j++) {
      const char *from = of_factor(worker, r, size, 0, j, l);
      fusion_note_access(worker, reader, from, size, 0);
      b[j] = element(row->type, from, 0);
    }
    for (uint32_t i = 0; i < rows; i++) {
      const char *from = of_factor(worker, r, size, 1, first + i, l);
      fusion_note_access(worker, reader, from, size, 0);
      float a = element(row->type, from, 0);
      for (uint32_t j = 0; j < row->n; j++)
        d[i * row->n + j] += a * b[j];
    }
  }
  fusion_read_together(worker, warp);
  for (uint32_t lane = 0; lane < 32; lane++)
    for (uint32_t i = 0; i < row->c_elements; i++) {
      struct place place = row->c(lane, i);
      memcpy((char *)warp->threads[lane].request.d + 4 * i, &d[place.row * row->n + place.column], 4);
    }
}

void fusion_emulated_multiply_shared(int32_t instruction, const void *a, const void *b, int32_t transposed, int64_t apart,
                                     const void *c, void *d) {
  fusion_collective(fusion_worker(), &(struct request){.kind = MULTIPLY_SHARED,
                                                       .what = instruction,
                                                       .width = transposed != 0,
                                                       .bits = apart,
                                                       .a = a,
                                                       .b = b,
                                                       .c = c,
                                                       .d = d});
}

/* Lane l gets elements 2*(l%4) and the next of row l/4; transposed, of column l/4. Lane 8*i + r knows where row r of matrix i
 * is. */
void fusion_do_load_matrix(struct worker *worker, struct warp *warp) {
  int32_t count = warp->threads[0].request.what;
  all_there(worker, warp, 32, "ldmatrix");
  for (uint32_t lane = 0; lane < 32; lane++) {
    const struct thread *thread = &warp->threads[lane];
    const struct request *r = &thread->request;
    if (r->what != count || (count != 1 && count != 2 && count != 4) || r->width != warp->threads[0].request.width)
      fusion_emulated_fail(worker, thread,
                           "ldmatrix of %d matrices, while the first thread of the warp came with %d; all threads load the same "
                           "1, 2 or 4",
                           r->what, count);
    if (lane < (uint32_t)count * 8 && (uintptr_t)r->a % 16)
      fusion_emulated_fail(worker, thread, "ldmatrix reads a row from an address that is not a multiple of 16 bytes");
  }
  for (uint32_t lane = 0; lane < 32; lane++) {
    const struct thread *thread = &warp->threads[lane];
    for (uint32_t i = 0; i < (uint32_t)count; i++) {
      uint16_t two[2];
      for (uint32_t e = 0; e < 2; e++) {
        uint32_t along = lane % 4 * 2 + e, across = lane / 4;
        uint32_t row = thread->request.width ? along : across, column = thread->request.width ? across : along;
        const char *from = (const char *)warp->threads[8 * i + row].request.a + 2 * column;
        fusion_note_access(worker, thread, from, 2, 0);
        memcpy(&two[e], from, 2);
      }
      memcpy((uint32_t *)thread->request.d + i, two, 4);
    }
  }
}

void fusion_emulated_ldmatrix(const void *row, int32_t count, int32_t transposed, uint32_t *out) {
  fusion_collective(fusion_worker(),
                    &(struct request){.kind = LOAD_MATRIX, .what = count, .width = transposed != 0, .a = row, .d = out});
}
