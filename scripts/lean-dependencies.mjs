/*
 * A plugin for rolldown: removes unused parts of the command's dependencies, and delays parts that a start does not
 * need.
 */
import { fileURLToPath } from "node:url";

const fileOf = (name) => fileURLToPath(import.meta.resolve(name));

/** Replacement modules, by the name under which they are imported. */
const replaced = {
  // Ink loads a debugger that is not installed. On CI, Ink draws nothing, even on a terminal.
  "react-devtools-core": "export default false;",
  "is-in-ci": "export default false;",
  // This module builds many patterns when it is loaded, but the first frame needs none of them.
  marked: `export function Lexer(options) { return new (require(${JSON.stringify(fileOf("marked"))}).Lexer)(options); }`,
  /*
   * Creating the first Intl.Segmenter takes half as long as starting Node. It is not needed if every character is a
   * grapheme of its own.
   */
  "quick-segmenter": String.raw`const single = /^[\n\u001B\u0020-\u007E${signs()}]*$/;
    export function createSegmenter(...options) {
      let segmenter;
      return {
        segment(text) {
          if (single.test(text)) {
            const segments = Array.from(text, (segment, index) => ({ segment, index, input: text }));
            return Object.assign(segments, { containing: (index) => segments[index] });
          }
          segmenter ??= new Intl.Segmenter(...options);
          return segmenter.segment(text);
        },
      };
    }`,
};

/**
 * Matches the app's own characters (lines, arrows, marks) and Latin letters: each has one column, is no emoji, and
 * joins no other character.
 */
function signs() {
  return String.raw`\u00A1-\u00A8\u00AA-\u00AC\u00AF-\u017F\u2010-\u2027\u2030-\u203B\u203D-\u2048\u2190-\u2193\u2500-\u259F\u25CB\u25CF\u2713\u2717`;
}

function quickSegmenter() {
  return [
    ["new Intl.Segmenter(", "createSegmenter("],
    [/^/, 'import { createSegmenter } from "quick-segmenter";\n'],
  ];
}

/** Changes of files, by the end of the file's path. */
const changed = {
  // Ink waits for its debugger at the top of a module, which CommonJS does not allow.
  "ink/build/reconciler.js": [
    [/^if \(isDev\(\)\) \{[\s\S]*?^\}\n/m, ""],
    [/isDev\(\)\s*\? await loadPackageJson\(\)\s*:/, ""],
  ],
  /*
   * Building the pattern for emoji takes as long as starting Node, so it is built only when a text may contain an
   * emoji.
   */
  "string-width/index.js": [
    [
      String.raw`/^\p{RGI_Emoji}$/v`,
      String.raw`{ test: (text) => /\p{Emoji}/u.test(text) && /^\p{RGI_Emoji}$/v.test(text) }`,
    ],
    [String.raw`/^[\u0020-\u007E]*$/`, String.raw`/^[\u0020-\u007E${signs()}]*$/`],
    ...quickSegmenter(),
  ],
  "ansi-tokenize/build/tokenize.js": quickSegmenter(),
  "slice-ansi/tokenize-ansi.js": quickSegmenter(),
  // Yoga waits at the top of its module until its WebAssembly is compiled; here it is compiled synchronously.
  "yoga-layout/dist/binaries/yoga-wasm-base64-esm.js": [
    [/"data:application[/]octet-stream;base64,([^"]+)"/, '"";\nloadYoga.bytes = "$1"'],
  ],
  "yoga-layout/dist/src/index.js": [
    [
      "const Yoga = wrapAssembly(await loadYoga());",
      `const assembly = {
        instantiateWasm(imports, done) {
          const bytes = Buffer.from(assembly.bytes, "base64");
          const instance = new WebAssembly.Instance(new WebAssembly.Module(bytes), imports);
          done(instance);
          return instance.exports;
        },
      };
      loadYoga(assembly);
      const Yoga = wrapAssembly(assembly);`,
    ],
  ],
};

function change(code, file, changes) {
  return changes.reduce((text, [before, after]) => {
    const next = text.replace(before, typeof before === "string" ? () => after : after);
    if (next === text) throw new Error(`${file} has changed: ${before} was not found`);
    return next;
  }, code);
}

export const leanDependencies = {
  name: "lean-dependencies",
  resolveId(id, importer = "") {
    if (Object.hasOwn(replaced, id)) return `\0${id}`;
    // Commander loads child_process for a feature that the command does not use.
    if (id === "node:child_process" && importer.includes("commander")) return "\0is-in-ci";
    // Ink's dependencies contain two versions of the same package.
    return id === "string-width" ? fileOf(id) : undefined;
  },
  load: (id) => (id.startsWith("\0") ? replaced[id.slice(1)] : undefined),
  transform(code, id) {
    const file = Object.keys(changed).find((end) => id.replaceAll("\\", "/").endsWith(end));
    return file && change(code, file, changed[file]);
  },
};
