//! Length of a run: a number of steps, a simulated time, or the scene's own duration.

/// Length of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RunLength {
    /// A number of steps.
    Steps(usize),
    /// A simulated time [s].
    Time(f64),
    /// The duration of the scene.
    OfScene,
}

/// A run without steps.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("{time} s; expected at least one time step of {time_step} s")]
pub struct NoSteps {
    /// Length of the run [s].
    pub time: f64,
    /// Time step [s].
    pub time_step: f64,
}

impl RunLength {
    /// The length that options give; a number of steps goes before a time.
    pub fn of(steps: Option<usize>, time: Option<f64>) -> Self {
        steps.map_or_else(|| time.map_or(Self::OfScene, Self::Time), Self::Steps)
    }

    /// Number of steps, at least one, for a scene of this duration [s] and time step [s].
    pub fn steps(self, duration: f64, time_step: f64) -> Result<usize, NoSteps> {
        let (steps, time) = match self {
            Self::Steps(steps) => (steps, steps as f64 * time_step),
            Self::Time(time) => ((time / time_step).round() as usize, time),
            Self::OfScene => ((duration / time_step).round() as usize, duration),
        };
        if steps == 0 { Err(NoSteps { time, time_step }) } else { Ok(steps) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_rounded_to_steps_and_no_run_is_empty() {
        assert_eq!(RunLength::of(Some(3), Some(9.0)).steps(1.0, 0.1), Ok(3));
        assert_eq!(RunLength::of(None, Some(0.26)).steps(1.0, 0.1), Ok(3));
        assert_eq!(RunLength::of(None, None).steps(1.0, 0.1), Ok(10));
        for empty in [RunLength::Steps(0), RunLength::Time(0.04), RunLength::Time(f64::NAN)] {
            assert!(empty.steps(1.0, 0.1).is_err(), "{empty:?}");
        }
    }
}
