"use strict";
const remarks = document.querySelector("#remarks");
if (remarks) {
  const rows = [...remarks.tBodies[0].rows];
  const words = rows.map(row => row.textContent.toLowerCase());
  const text = document.querySelector("#text");
  const outcome = document.querySelector("#outcome");
  const subject = document.querySelector("#subject");
  const count = document.querySelector("#count");

  const filter = () => {
    const wanted = text.value.toLowerCase().split(/\s+/).filter(word => word);
    let shown = 0;
    rows.forEach((row, number) => {
      const fits = wanted.every(word => words[number].includes(word))
        && (!outcome.value || row.cells[0].textContent === outcome.value)
        && (!subject.value || row.cells[1].textContent === subject.value);
      row.hidden = !fits;
      shown += fits;
    });
    count.textContent = `${shown} of ${rows.length} remarks`;
  };
  for (const control of [text, outcome, subject]) control.addEventListener("input", filter);
  filter();

  // A click on a kernel shows the remarks about it.
  document.querySelectorAll(".box").forEach(box => box.addEventListener("click", () => {
    document.querySelectorAll(".box.picked").forEach(other => other.classList.remove("picked"));
    box.classList.add("picked");
    text.value = box.dataset.kernel + ";";
    filter();
    document.querySelector("#remarks").scrollIntoView({ behavior: "smooth" });
  }));
}

document.querySelectorAll("table.sortable").forEach(table => {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    head.classList.add("sorts");
    head.addEventListener("click", () => {
      const down = head.classList.contains("up");
      heads.forEach(other => other.classList.remove("up", "down"));
      head.classList.add(down ? "down" : "up");
      const key = row => row.cells[column].dataset.n ?? row.cells[column].textContent;
      const compare = (a, b) => {
        const [x, y] = [key(a), key(b)];
        // What has no number is last, whichever way.
        if (x === "" || y === "") return (x === "") - (y === "");
        const order = head.classList.contains("n") ? x - y : x.localeCompare(y);
        return down ? -order : order;
      };
      table.tBodies[0].append(...[...table.tBodies[0].rows].sort(compare));
    });
  });
});

// Wide graphs begin in the middle.
document.querySelectorAll(".scroll").forEach(box => {
  if (box.firstElementChild?.tagName === "svg") box.scrollLeft = (box.scrollWidth - box.clientWidth) / 2;
});
