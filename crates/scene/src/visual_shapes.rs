//! Visual shapes of a model, with their mesh files read.
//!
//! Converts [`Visual`]s to [`VisualShape`]s for a recorder. Importers do not read the files of
//! visual meshes, since no motion depends on them; they are read here, each once per scale. A mesh that
//! cannot be read is left out and reported.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use nalgebra::Vector3;
use stiction_sim::record::{Geometry, Triangles, VisualShape};

use crate::error::SceneError;
use crate::files::Files;
use crate::import::{Imported, Visual, VisualGeometry};
use crate::mesh_file;

impl Imported {
    /// The visual shapes, for a recorder; those whose mesh cannot be read are left out.
    pub fn visual_shapes(&self) -> Vec<VisualShape> {
        visual_shapes(&self.visuals, &mut self.files.clone()).0
    }
}

/// The visual shapes, and the errors of mesh files that cannot be read.
pub fn visual_shapes(visuals: &[Visual], files: &mut Files) -> (Vec<VisualShape>, Vec<SceneError>) {
    let (mut found, mut faults) = (Vec::with_capacity(visuals.len()), Vec::new());
    let mut meshes: HashMap<(PathBuf, [u64; 3]), Option<Arc<Triangles>>> = HashMap::new();
    for visual in visuals {
        let geometry = match &visual.geometry {
            VisualGeometry::Shape(shape) => Geometry::Shape(shape.clone()),
            VisualGeometry::Mesh { path, scale } => {
                let key = (path.clone(), (*scale).map(f64::to_bits).into());
                let mesh = meshes.entry(key).or_insert_with(|| {
                    triangles(files, path, scale).map_err(|fault| faults.push(fault)).ok()
                });
                let Some(mesh) = mesh else { continue };
                Geometry::Triangles(mesh.clone())
            }
        };
        found.push(VisualShape {
            name: String::new(),
            body: visual.body.0,
            pose: visual.pose,
            geometry,
            colour: visual.colour,
            collides: false,
        });
    }
    (found, faults)
}

/// A mesh of a file, scaled. A scale with a reflection reverses the order of the corners.
fn triangles(
    files: &mut Files,
    path: &Path,
    scale: &Vector3<f64>,
) -> Result<Arc<Triangles>, SceneError> {
    let mesh = mesh_file::read(files, path)?;
    let mirrored = scale.product() < 0.0;
    let wound = |&[a, b, c]: &[u32; 3]| if mirrored { [a, c, b] } else { [a, b, c] };
    let scaled = |v: &Vector3<f64>| v.component_mul(scale).cast::<f32>().into();
    Ok(Arc::new(Triangles {
        vertices: mesh.vertices.iter().map(scaled).collect(),
        triangles: mesh.triangles.iter().map(wound).collect(),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::{Options, load_with};

    const CORNER: &str = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";

    fn model(scale: &str, text: &str) -> Imported {
        let mut files = Files::in_memory();
        files.insert("corner.obj", CORNER.as_bytes());
        let main = format!(
            "<mujoco><asset><mesh name='corner' file='corner.obj' scale='{scale}'/></asset>
             <worldbody><body name='a'><freejoint/><inertial pos='0 0 0' mass='1' diaginertia='1 1 1'/>
             {text}</body></worldbody></mujoco>"
        );
        files.insert("main.xml", main.as_bytes());
        load_with(files, Path::new("main.xml"), &Options::default()).unwrap()
    }

    const MESH: &str =
        "<geom type='mesh' mesh='corner' contype='0' conaffinity='0' rgba='1 0 0 1'/>";

    #[test]
    fn a_visual_mesh_is_read_once_and_carried_by_its_body() {
        let shapes = model("2 2 3", &format!("{MESH}{MESH}")).visual_shapes();
        assert_eq!(shapes.len(), 2);
        let [Geometry::Triangles(a), Geometry::Triangles(b)] =
            [0, 1].map(|k: usize| shapes[k].geometry.clone())
        else {
            panic!("expected triangles")
        };
        assert!(Arc::ptr_eq(&a, &b));
        assert_eq!(a.vertices, [[0.0; 3], [2.0, 0.0, 0.0], [0.0, 2.0, 0.0]]);
        assert_eq!(
            (shapes[0].body, shapes[0].colour, shapes[0].collides),
            (1, [1.0, 0.0, 0.0, 1.0], false)
        );
    }

    #[test]
    fn a_mirrored_mesh_keeps_its_outside() {
        let shapes = model("1 1 -1", MESH).visual_shapes();
        let Geometry::Triangles(mesh) = &shapes[0].geometry else { panic!("expected triangles") };
        assert_eq!(mesh.triangles, [[0, 2, 1]]);
    }

    #[test]
    fn a_mesh_that_cannot_be_read_hides_nothing_else() {
        let mut found =
            model("1 1 1", &format!("{MESH}<geom size='1' contype='0' conaffinity='0'/>"));
        found.files.insert("corner.obj", *b"nonsense");
        let (shapes, faults) = visual_shapes(&found.visuals, &mut found.files.clone());
        assert!(matches!(shapes[..], [VisualShape { geometry: Geometry::Shape(_), .. }]));
        assert!(faults[0].to_string().contains("corner.obj"), "{}", faults[0]);
        assert_eq!((found.visual_shapes().len(), faults.len()), (1, 1));
    }
}
