// Runs the validator of the Khronos Group over files: `node glb_validator.mjs FILE …`.
//
// The npm package `gltf-validator` is looked for where STICTION_GLTF_VALIDATOR points to (a folder
// with `node_modules`), else from here. Prints one line per file; ends with 1 if a file has an
// error or a warning, with 77 if the package is not there.
import { createRequire } from 'node:module';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

const from = process.env.STICTION_GLTF_VALIDATOR;
const require = createRequire(from ? join(from, 'package.json') : import.meta.url);
let validator;
try {
  validator = require('gltf-validator');
} catch {
  console.log('skipped: the npm package gltf-validator is not installed');
  process.exit(77);
}
let failed = false;
for (const file of process.argv.slice(2)) {
  const report = await validator.validateBytes(new Uint8Array(await readFile(file)));
  const { numErrors, numWarnings, numInfos, messages } = report.issues;
  console.log(`${file}: ${numErrors} errors, ${numWarnings} warnings, ${numInfos} notes`);
  for (const { severity, code, message, pointer } of messages.slice(0, 20)) {
    console.log(`  ${['error', 'warning', 'note', 'hint'][severity]} ${code} ${pointer ?? ''}: ${message}`);
  }
  failed ||= numErrors > 0 || numWarnings > 0;
}
process.exit(failed ? 1 : 0);
