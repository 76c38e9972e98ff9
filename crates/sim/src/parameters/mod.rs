//! Parameters that may change while a world is simulated, per simulation: masses, friction, gains and the like.
//!
//! [`PARAMETERS`] lists them; each is an array over the bodies, joints, shapes or actuators of a world. A world never
//! changes: the first change gives a [`Simulation`](crate::Simulation) a world of its own, a copy in which meshes are shared. Everything that
//! is computed from a parameter follows it:
//!
//! | changed | computed again |
//! |---|---|
//! | mass, centre of mass, inertia | those of the link that the body belongs to, gravity compensation, constant mass matrices, inverse weights |
//! | armature | mass matrix, inverse weights |
//! | inverse weights | compliance of soft contacts, limits, dry friction and equalities (at their next use) |
//! | gravity | weight of soft bodies, detection distances |
//! | joints, actuators | force laws, rows of limits and dry friction |
//!
//! What a file's reader derived once stays as it is: inertias from densities and sizes, dampings from damping ratios,
//! forces of muscles from masses. A changed simulation has the same bits as one of a world that was built with the
//! changed numbers. Cost: a copy of the world at the first change; later a few operations per number.

mod actuator;
mod body;
mod change;
mod error;
mod geom;
mod joint;
mod registry;
mod values;

pub(crate) use change::ParameterState;
pub use error::ParameterError;
pub use registry::{PARAMETERS, ParameterEntry, ParameterOwner};
pub(crate) use values::ChangedParameter;
