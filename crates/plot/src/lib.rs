//! Line charts as standalone SVG files.
