//! A recording as a Parquet table with a row per frame, for data frames and databases.
//!
//! Statistics are columns of numbers. Items of which a frame has several are columns of lists, one
//! per component: `position_x` has an entry per moving body, `contact_gap` one per contact, so that
//! unnesting lists of the same kind together gives a row per body or contact. The names of bodies
//! and phases and the description of the run are JSON in the file's metadata under [`KEY`]. Numbers keep all
//! their bits. [Parquet format 2, Apache Software Foundation].

use std::path::Path;
use std::sync::Arc;

use parquet::basic::{Compression, ConvertedType, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{BoolType, DataType, DoubleType, FloatType, Int32Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::Type;
use serde_json::json;
use stiction_sim::PHASES;
use stiction_sim::record::Recording;

use crate::columns::{Column, EntriesPer, Values, columns, soft_vertices};
use crate::{ViewError, exporter};

/// The metadata key of the run's description.
pub const KEY: &str = "stiction";

/// Writes a recording to a file.
pub fn write(recording: &Recording, path: &Path) -> Result<(), ViewError> {
    recording.check()?;
    let bytes = table(recording).map_err(|error| ViewError::Write {
        path: path.display().to_string(),
        source: std::io::Error::other(error),
    })?;
    exporter::put(path, &bytes)
}

/// The table of a consistent recording.
pub fn table(recording: &Recording) -> Result<Vec<u8>, ParquetError> {
    let columns: Vec<Column> = columns(recording);
    let parts: Vec<(String, &Column, usize)> = columns.iter().flat_map(components).collect();
    let fields = parts.iter().map(|(name, column, _)| field(name, column));
    let schema = Type::group_type_builder("recording")
        .with_fields(fields.map(|field| field.map(Arc::new)).collect::<Result<_, _>>()?)
        .build()?;
    let about = json!({
        "title": recording.title, "solver": recording.solver, "time_step": recording.time_step,
        "tolerance": recording.tolerance, "bodies": recording.bodies, "moving": recording.moving,
        "softs": recording.softs.iter().map(|soft| &soft.name).collect::<Vec<_>>(), "phases": PHASES,
    });
    let properties = WriterProperties::builder()
        .set_compression(Compression::GZIP(Default::default()))
        .set_key_value_metadata(Some(vec![KeyValue::new(KEY.into(), about.to_string())]))
        .build();
    let mut writer = SerializedFileWriter::new(Vec::new(), Arc::new(schema), Arc::new(properties))?;
    let mut rows = writer.next_row_group()?;
    for (_, column, component) in &parts {
        write_column(&mut rows, recording, column, *component)?;
    }
    rows.close()?;
    writer.into_inner()
}

/// The components of a column, each with its name.
fn components<'a, 'b>(column: &'a Column<'b>) -> Vec<(String, &'a Column<'b>, usize)> {
    match column.components {
        [] => vec![(column.name.to_owned(), column, 0)],
        names => {
            let named = names.iter().enumerate();
            named.map(|(k, part)| (format!("{}_{part}", column.name), column, k)).collect()
        }
    }
}

/// The type of a component: a number, or a list of them.
fn field(name: &str, column: &Column) -> Result<Type, ParquetError> {
    let (physical, logical) = match column.values {
        Values::F64(_) => (Physical::DOUBLE, None),
        Values::F32(_) => (Physical::FLOAT, None),
        Values::U32(_) => (Physical::INT32, Some(LogicalType::integer(32, false))),
        Values::U8(_) => (Physical::INT32, Some(LogicalType::integer(8, false))),
        Values::Bool(_) => (Physical::BOOLEAN, None),
    };
    let number = |name: &str| {
        Type::primitive_type_builder(name, physical)
            .with_repetition(Repetition::REQUIRED)
            .with_logical_type(logical.clone())
            .build()
    };
    if column.per == EntriesPer::Frame {
        return number(name);
    }
    let entries = Type::group_type_builder("list")
        .with_repetition(Repetition::REPEATED)
        .with_fields(vec![Arc::new(number("element")?)])
        .build()?;
    Type::group_type_builder(name)
        .with_repetition(Repetition::REQUIRED)
        .with_converted_type(ConvertedType::LIST)
        .with_logical_type(Some(LogicalType::List))
        .with_fields(vec![Arc::new(entries)])
        .build()
}

fn write_column(
    rows: &mut SerializedRowGroupWriter<'_, Vec<u8>>,
    recording: &Recording,
    column: &Column,
    component: usize,
) -> Result<(), ParquetError> {
    let levels = levels(recording, column.per);
    let width = column.components.len().max(1);
    match column.values {
        Values::F64(v) => put::<DoubleType>(rows, &levels, &every(v, component, width, |x| x)),
        Values::F32(v) => put::<FloatType>(rows, &levels, &every(v, component, width, |x| x)),
        Values::U32(v) => {
            put::<Int32Type>(rows, &levels, &every(v, component, width, u32::cast_signed))
        }
        Values::U8(v) => put::<Int32Type>(rows, &levels, &every(v, component, width, i32::from)),
        Values::Bool(v) => put::<BoolType>(rows, &levels, &every(v, component, width, |x| x)),
    }
}

/// One component of all entries.
fn every<T: Copy, U>(values: &[T], component: usize, width: usize, to: impl Fn(T) -> U) -> Vec<U> {
    values.iter().skip(component).step_by(width).map(|&x| to(x)).collect()
}

fn put<T: DataType>(
    rows: &mut SerializedRowGroupWriter<'_, Vec<u8>>,
    levels: &Option<Levels>,
    values: &[T::T],
) -> Result<(), ParquetError> {
    let Some(mut column) = rows.next_column()? else { return Ok(()) };
    let definition = levels.as_ref().map(|levels| levels.definition.as_slice());
    let repetition = levels.as_ref().map(|levels| levels.repetition.as_slice());
    column.typed::<T>().write_batch(values, definition, repetition)?;
    column.close()
}

/// Repetition and definition levels: repetition 0 begins a list, definition 0 is an empty one.
struct Levels {
    definition: Vec<i16>,
    repetition: Vec<i16>,
}

fn levels(recording: &Recording, per: EntriesPer) -> Option<Levels> {
    let length = |frame: usize| match per {
        EntriesPer::Frame => 1,
        EntriesPer::Body => recording.moving.len(),
        EntriesPer::Contact => recording.frames.contacts.of(frame).len(),
        EntriesPer::SoftVertex => soft_vertices(recording),
    };
    if per == EntriesPer::Frame {
        return None;
    }
    let mut levels = Levels { definition: Vec::new(), repetition: Vec::new() };
    for frame in 0..recording.len() {
        let length = length(frame);
        levels.definition.extend(std::iter::repeat_n(i16::from(length > 0), length.max(1)));
        levels.repetition.push(0);
        levels.repetition.extend(std::iter::repeat_n(1, length.max(1) - 1));
    }
    Some(levels)
}
