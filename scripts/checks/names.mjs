// Fails on an exported name that two files declare, an identifier, file or folder that uses a word which docs/glossary.md replaces by another
// (scripts/checks/words.mjs has the list), and a copy of a small helper function.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { codeExtensions, nodesOf, sourcePaths } from "./sources.mjs";
import { neverAlone, otherMeanings, publicMembers, replaced } from "./words.mjs";

const product = /^packages\/(?:wire|core|gateway|registry|team|cli)\/src\/.+\.tsx?$/;
const isShellScript = /\.(?:sh|ps1)$/;
/** Whether several files may export this name: each command's file exports its `verb` or `verbs` for the table of commands. */
const isCommand = (path, name) =>
  (name === "verb" || name === "verbs") && path.startsWith("packages/cli/src/commands/");

/** Small functions that are easily written again: the code of a copy, and the files that may contain that code. */
const helpers = [
  {
    use: "errorMessage of @fairlead/wire/text",
    copy: /\b(\w+) instanceof Error \? \1\.message : (?:String\(\1\)|\1\b|`\$\{\1\}`)/,
    files: ["packages/wire/src/shapes/text.ts"],
  },
  {
    use: "isObject of @fairlead/wire/json",
    copy: /typeof (\w+) === "object" && \1 !== null && !Array\.isArray\(\1\)/,
    // The second file contains the text of a program that cannot import the helper.
    files: ["packages/wire/src/shapes/json.ts", "packages/cli/src/generate/command-program.ts"],
  },
];

/** Returns the violations below `baseDir`, one line each, and the number of files. */
export async function checkNames(baseDir) {
  const paths = await sourcePaths(baseDir, codeExtensions, ["src", "bin"]);
  const violations = [];
  /** @type {Map<string, string[]>} */
  const exporters = new Map();
  for (const path of paths) {
    const text = await readFile(join(baseDir, path), "utf8");
    const deprecated = deprecatedNames(text);
    const nodes = isShellScript.test(path) ? [] : await nodesOf(baseDir, path);
    for (const part of partsOf(path)) violations.push(...forbiddenWords(path, part));
    for (const name of declaredNames(nodes))
      if (!deprecated.has(name)) violations.push(...forbiddenWords(path, name), ...bareWord(path, name, nodes));
    if (!product.test(path)) continue;
    violations.push(...copiesIn(path, text));
    const exported = [...exportedNames(nodes)].filter((name) => !isCommand(path, name));
    for (const name of exported) if (!deprecated.has(name)) exporters.set(name, [...(exporters.get(name) ?? []), path]);
  }
  for (const [name, files] of [...exporters].sort(([a], [b]) => (a < b ? -1 : 1)))
    if (files.length > 1) violations.push(`${name} is exported by ${files.length} files: ${files.join(", ")}`);
  return { files: paths.length, violations };
}

/** Returns the names of a file and of its folders below `src`. */
function partsOf(path) {
  return path.split("/").slice(3);
}

/** Words with one allowed meaning. Each compound stands beside its words in the singular. */
const meanings = otherMeanings.map((meaning) => ({
  ...meaning,
  compounds: meaning.compounds.map((text) => ({ text, singular: ` ${text.split(" ").map(toSingular).join(" ")} ` })),
}));

function forbiddenWords(path, name) {
  const words = wordsOf(name);
  const singular = ` ${words.map(toSingular).join(" ")} `;
  const found = words
    .filter((word) => replaced.has(word))
    .map((word) => `${path}: ${name} uses "${word}"; write: ${replaced.get(word)}`);
  for (const { word, use, allowed, files, compounds } of meanings) {
    const compound = compounds.find((each) => singular.includes(each.singular))?.text;
    const isElsewhere = files !== undefined && !files.test(path) && words.includes(word);
    if (compound !== undefined || isElsewhere)
      found.push(`${path}: ${name} uses "${compound ?? word}"; write: ${use} ("${word}" is only: ${allowed})`);
  }
  return found.slice(0, 1);
}

/** Finds a name that consists of one word which says too little alone. */
function bareWord(path, name, nodes) {
  if (!neverAlone.has(toSingular(name.toLowerCase().replaceAll(/[_$\d]/g, "")))) return [];
  const isPublic = publicMembers.some(
    (each) => each.name === name && each.files.includes(path.replace("packages/core/src/", "")),
  );
  return isPublic && isOnlyMember(name, nodes) ? [] : [`${path}: ${name} says too little alone; name what it holds`];
}

/** Returns whether every declaration of the name in the file is a member of a type or a class. */
function isOnlyMember(name, nodes) {
  return nodes.every((node) => !givenNames(node).includes(name) || boundNames(node.key).includes(name));
}

function toSingular(word) {
  return word.replace(/ies$/, "y").replace(/(?<=[^s])s$/, "");
}

function copiesIn(path, text) {
  const code = text.replaceAll(/\s+/g, " ");
  return helpers
    .filter(({ copy, files }) => !files.includes(path) && copy.test(code))
    .map(({ use }) => `${path}: a copy of a helper; use ${use}`);
}

/** Returns the names whose documentation comment has `@deprecated`. They are kept for programs that still use them. */
function deprecatedNames(text) {
  const comment = /\/\*\*(?:(?!\*\/)[\s\S])*@deprecated(?:(?!\*\/)[\s\S])*\*\/\s*([^\n=:({<]*)/g;
  return new Set([...text.matchAll(comment)].flatMap(([, declared]) => declared.match(/[\w$]+/g) ?? []));
}

/** Returns the names that a file declares and exports. Names that it only re-exports do not count. */
function exportedNames(nodes) {
  const imported = new Set(nodes.filter(({ type }) => type.startsWith("Import")).map(({ local }) => local?.value));
  const names = nodes.flatMap((node) => {
    if (node.type === "ExportDeclaration") return namesIn(node.declaration);
    if (node.type !== "ExportNamedDeclaration" || node.source) return [];
    return node.specifiers
      .filter(({ orig }) => !imported.has(orig?.value))
      .map(({ orig, exported }) => (exported ?? orig).value);
  });
  return new Set(names);
}

function namesIn({ declarations, identifier, id }) {
  return declarations ? declarations.flatMap((each) => boundNames(each.id)) : boundNames(identifier ?? id);
}

/** Returns every name that a file defines: variables, parameters, functions, types, members and aliases. Uses do not count. */
function declaredNames(nodes) {
  return new Set(nodes.flatMap((node) => givenNames(node)));
}

function givenNames(node) {
  switch (node.type) {
    case "VariableDeclarator":
    case "TsEnumMember":
    case "TsModuleDeclaration":
    case "TsImportEqualsDeclaration":
      return boundNames(node.id);
    case "FunctionDeclaration":
    case "FunctionExpression":
    case "ClassDeclaration":
    case "ClassExpression":
    case "TsInterfaceDeclaration":
    case "TsTypeAliasDeclaration":
    case "TsEnumDeclaration":
      return boundNames(node.identifier ?? node.id);
    case "TsTypeParameter":
    case "ExportNamespaceSpecifier":
      return boundNames(node.name);
    case "Parameter":
      return boundNames(node.pat);
    case "CatchClause":
    case "TsParameterProperty":
    case "SetterProperty":
      return [...boundNames(node.param), ...boundNames(node.key)];
    case "ArrowFunctionExpression":
    case "TsFunctionType":
    case "TsConstructorType":
    case "TsCallSignatureDeclaration":
    case "TsConstructSignatureDeclaration":
    case "TsIndexSignature":
      return node.params.flatMap(boundNames);
    case "TsMethodSignature":
      return [...boundNames(node.key), ...node.params.flatMap(boundNames)];
    case "TsTupleElement":
      return boundNames(node.label);
    case "TsPropertySignature":
    case "TsGetterSignature":
    case "TsSetterSignature":
    case "ClassProperty":
    case "ClassMethod":
    case "MethodProperty":
    case "GetterProperty":
    case "PrivateProperty":
    case "PrivateMethod":
      return boundNames(node.key);
    // Without an alias, the name of an import is the choice of the file that declares it.
    case "ImportSpecifier":
      return node.imported ? boundNames(node.local) : [];
    case "ImportDefaultSpecifier":
    case "ImportNamespaceSpecifier":
      return boundNames(node.local);
    case "ExportSpecifier":
      return boundNames(node.exported);
    default:
      return [];
  }
}

/** Returns the names in a pattern: `a`, `{ b, c: d = 1, e = 2 }`, `[f, ...g]`. */
function boundNames(pattern) {
  switch (pattern?.type) {
    case "Identifier":
      return [pattern.value];
    case "PrivateName":
      return [pattern.id?.value ?? pattern.value];
    case "ObjectPattern":
      return pattern.properties.flatMap(boundNames);
    case "AssignmentPatternProperty":
      return boundNames(pattern.key);
    case "KeyValuePatternProperty":
      return boundNames(pattern.value);
    case "ArrayPattern":
      return pattern.elements.flatMap(boundNames);
    case "AssignmentPattern":
      return boundNames(pattern.left);
    case "RestElement":
      return boundNames(pattern.argument);
    default:
      return [];
  }
}

/** Splits a name into words: `readOnlyHint` and `READ_ONLY_HINT` give `read`, `only`, `hint`; `HTTPServer` and `http-server.ts` give `http`, `server`. */
function wordsOf(name) {
  return name
    .replaceAll(/([a-z\d])([A-Z])|([A-Z])(?=[A-Z][a-z])/g, "$1$3 $2")
    .split(/[\s_$\d.-]+/)
    .map((word) => word.toLowerCase());
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const { files, violations } = await checkNames(process.cwd());
  for (const line of violations)
    process.stdout.write(`${line}
`);
  process.stdout.write(`names: ${files} files, ${violations.length} violations
`);
  if (violations.length > 0 || files < 20) process.exitCode = 1;
}
