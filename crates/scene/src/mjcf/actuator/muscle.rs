//! Muscles: the parameters of MuJoCo as those of a [`Muscle`].

use stiction_mech::{
    ActuatorBias, ActuatorGain, ActuatorLaw, ActuatorSpec, JointId, Model, Muscle, TendonPath,
    Transmission,
};

use super::law::LawTerm;

/// Least divisor of MuJoCo.
const LEAST: f64 = 1e-15;

/// Gain and bias of a muscle before its range of lengths and its force are known.
pub(super) struct MuscleDraft {
    gain: LawTerm,
    bias: LawTerm,
    /// The range of the length, gear included, as the file gives it.
    length_range: Option<(f64, f64)>,
}

impl MuscleDraft {
    pub fn new((gain, bias): (LawTerm, LawTerm), length_range: Option<(f64, f64)>) -> Self {
        let length_range = length_range.filter(|(lower, upper)| lower < upper);
        Self { gain, bias, length_range }
    }

    /// The law; `None` if only a simulation finds the range of lengths. `acceleration` is that of a unit
    /// force.
    pub fn law(
        &self,
        model: &Model,
        spec: &ActuatorSpec,
        acceleration: f64,
    ) -> Option<ActuatorLaw> {
        let (lower, upper) = self.length_range.or_else(|| reachable_lengths(model, spec))?;
        let muscle = |prm: &[f64; 10]| {
            let [r_0, r_1, force, scale, shortest, longest, fastest, passive, lengthening, _] =
                *prm;
            let peak_force = if force < 0.0 { scale / acceleration.max(LEAST) } else { force };
            Muscle {
                length_range: [lower, upper],
                range: [r_0, r_1],
                peak_force,
                shortest,
                longest,
                fastest,
                passive,
                lengthening,
            }
        };
        let gain = match &self.gain {
            LawTerm::Affine(gain) => ActuatorGain::Affine(*gain),
            LawTerm::Muscle(prm) => ActuatorGain::Muscle(muscle(prm)),
        };
        let bias = match &self.bias {
            LawTerm::Affine(bias) => ActuatorBias::Affine(*bias),
            LawTerm::Muscle(prm) => ActuatorBias::Muscle(muscle(prm)),
        };
        Some(ActuatorLaw::General { gain, bias })
    }
}

/// Lengths between the limits of the joints that an actuator moves, if its length is a sum of limited
/// coordinates. MuJoCo simulates instead, with limits that yield a little.
fn reachable_lengths(model: &Model, spec: &ActuatorSpec) -> Option<(f64, f64)> {
    let between = |id: JointId, coefficient: f64| {
        let joint = &model.joints()[id.0];
        let limit = joint.spec.limit.filter(|_| joint.dofs.len() == 1)?;
        let ends = [coefficient * limit.lower, coefficient * limit.upper];
        Some((ends[0].min(ends[1]), ends[0].max(ends[1])))
    };
    let (lower, upper) = match &spec.transmission {
        Transmission::Joint(id) => between(model.joint_of_builder(*id)?, 1.0)?,
        Transmission::Tendon(id) => match &model.tendons().get(id.0)?.spec.path {
            TendonPath::Fixed(terms) => {
                let mut sum = (0.0, 0.0);
                for (joint, coefficient) in terms {
                    let (lower, upper) = between(*joint, *coefficient)?;
                    sum = (sum.0 + lower, sum.1 + upper);
                }
                sum
            }
            TendonPath::Spatial(_) => return None,
        },
        _ => return None,
    };
    let ends = [spec.gear * lower, spec.gear * upper];
    Some((ends[0].min(ends[1]), ends[0].max(ends[1]))).filter(|(lower, upper)| lower < upper)
}
