// Finds exported declarations without a TSDoc comment directly above them, and source files that do not begin with a comment.
// The check of names calls this module, because that check has already parsed all files.

/** Matches a declaration at the top level of a file. Declarations inside of others are indented. */
const declaration =
  /^(?:export )?(?:default )?(?:declare )?(?:abstract )?(?:async )?(?:function\*?|const|let|var|class|interface|type|enum|namespace) ([\w$]+)/gm;

/**
 * Returns the missing comments of one file, one line each.
 *
 * @param {Iterable<string>} exported The names that the file declares and exports.
 */
export function missingComments(path, text, exported) {
  const names = namesWithTsDoc(text);
  const missing = [...exported]
    .filter((name) => !names.has(name))
    .map((name) => `${path}: ${name} is exported without a TSDoc comment directly above it`);
  // A program may begin with the line that names its interpreter.
  if (!/^(?:#!.*\n)?\/[/*]/.test(text))
    missing.unshift(`${path}: does not begin with a comment that says what it owns`);
  return missing;
}

/** Returns the names with a TSDoc comment. If a name has several declarations, such as overloads, the first one counts. */
function namesWithTsDoc(text) {
  const seen = new Set();
  const documented = new Set();
  for (const { 1: name, index } of text.matchAll(declaration)) {
    if (!seen.has(name) && hasTsDoc(text, index)) documented.add(name);
    seen.add(name);
  }
  return documented;
}

/** Returns whether a TSDoc comment with words in it ends on the line above `index`. */
function hasTsDoc(text, index) {
  const end = index - "*/\n".length;
  if (!text.startsWith("*/\n", end)) return false;
  const begin = text.lastIndexOf("\n/**", end) + 1;
  return (
    text.startsWith("/**", begin) && text.indexOf("*/", begin + 3) === end && /\p{L}/u.test(text.slice(begin, end))
  );
}
