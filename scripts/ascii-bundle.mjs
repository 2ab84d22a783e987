// Writes every character beyond ASCII in a bundle as an escape: the loader reads files as Latin-1. The bundler's own option leaves
// template literals alone, because their raw text would change; no code of ours reads that.

/** A plugin of the bundler. */
export const asciiBundle = {
  name: "ascii-bundle",
  generateBundle(_options, bundle) {
    for (const file of Object.values(bundle)) if (file.type === "chunk") file.code = toAscii(file.code);
  },
};

function toAscii(code) {
  return code.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
