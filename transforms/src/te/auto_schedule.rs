//! Default schedules.
