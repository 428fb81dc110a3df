use super::Lowering;
use fusion_dialects::loops::Loops;
use fusion_dialects::Op;
use fusion_operators::Dim;
impl<'c> Lowering<'c> {
    pub(super) fn tiled(&mut self, _: &Loops<'c>, _: Op<'c>, _: &[Dim], _: &[Dim]) -> bool {
        false
    }
}
