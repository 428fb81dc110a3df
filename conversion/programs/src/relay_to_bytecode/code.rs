//! The instructions of a function while they are written: registers, and labels that may lie ahead.

use fusion_bytecode::{Function, Instruction, Label, Register};

/// A state of the registers to come back to: where branches begin.
#[derive(Clone)]
pub struct Mark {
    registers: Register,
    free: Vec<Register>,
}

/// Code being written.
#[derive(Default)]
pub struct Code {
    instructions: Vec<Instruction>,
    places: Vec<String>,
    /// Where the instructions that are written now come from.
    pub place: String,
    registers: Register,
    free: Vec<Register>,
    /// Where each label is, once it is known.
    labels: Vec<Option<Label>>,
}

impl Code {
    /// Nothing yet, of what comes from that place.
    pub fn at(place: String) -> Code {
        Code { place, ..Code::default() }
    }

    /// An empty register.
    pub fn fresh(&mut self) -> Register {
        self.free.pop().unwrap_or_else(|| {
            self.registers += 1;
            self.registers - 1
        })
    }

    /// Says that a register is empty.
    pub fn release(&mut self, register: Register) {
        debug_assert!(!self.free.contains(&register), "register {register} is free already");
        self.free.push(register);
    }

    /// The next instruction.
    pub fn emit(&mut self, instruction: Instruction) {
        self.instructions.push(instruction);
        self.places.push(self.place.clone());
    }

    /// Drops what a register holds.
    pub fn drop_register(&mut self, value: Register) {
        self.emit(Instruction::Drop { value });
        self.release(value);
    }

    /// A label that is not placed yet.
    pub fn label(&mut self) -> Label {
        self.labels.push(None);
        (self.labels.len() - 1) as Label
    }

    /// Places a label before the next instruction.
    pub fn bind(&mut self, label: Label) {
        self.labels[label as usize] = Some(self.instructions.len() as Label);
    }

    /// The registers as they are.
    pub fn mark(&self) -> Mark {
        Mark { registers: self.registers, free: self.free.clone() }
    }

    /// The registers as they were: what was used first since then is empty.
    pub fn back_to(&mut self, mark: &Mark) {
        self.free = mark.free.clone();
        self.free.extend((mark.registers..self.registers).rev());
    }

    /// The function. Labels become places of instructions.
    pub fn finish(mut self, name: String, parameters: u32) -> Function {
        let labels = &self.labels;
        let place =
            |label: &mut Label| *label = labels.get(*label as usize).copied().flatten().unwrap_or(*label);
        for instruction in &mut self.instructions {
            match instruction {
                Instruction::Jump { target } | Instruction::JumpUnless { target, .. } => place(target),
                Instruction::Switch { targets, .. } => targets.iter_mut().for_each(place),
                _ => {}
            }
        }
        if self.places.iter().all(String::is_empty) {
            self.places.clear();
        }
        Function { name, parameters, registers: self.registers, code: self.instructions, places: self.places }
    }
}
