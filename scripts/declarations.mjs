// Reads source files and compiled declaration files (.d.ts): which names a module exports, where each is declared, and which types it
// mentions.
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseSync } from "@swc/core";

const isCompiled = (file) => file.endsWith(".d.ts");

/** Reads a module's declarations, imports and exports by name. */
function readModule(file) {
  // One extra character at the start shows at which offset the parser begins to count.
  const bytes = Buffer.from(`;${readFileSync(file, "utf8")}`);
  const { body, span: whole } = parseSync(bytes.toString(), { syntax: "typescript", dts: isCompiled(file) });
  const slice = ({ start, end }) => bytes.subarray(start - whole.start, end - whole.start).toString();
  const module = { declarations: new Map(), imports: new Map(), exports: new Map(), stars: [] };
  let end = whole.start;
  for (const item of body) {
    const before = slice({ start: end, end: item.span.start });
    end = item.span.end;
    take(module, item, { text: slice(item.span), comment: lastComment(before) });
  }
  return module;
}

function take(module, item, written) {
  switch (item.type) {
    case "ImportDeclaration":
      for (const { local, imported } of item.specifiers)
        module.imports.set(local.value, { from: item.source.value, name: (imported ?? local).value });
      return;
    case "ExportNamedDeclaration":
      for (const { orig, exported } of item.specifiers)
        module.exports.set((exported ?? orig).value, { from: item.source?.value, name: orig.value });
      return;
    case "ExportAllDeclaration":
      module.stars.push(item.source.value);
      return;
    case "ExportDeclaration":
      for (const name of declare(module, item.declaration, written)) module.exports.set(name, { name });
      return;
    default:
      declare(module, item, written);
  }
}

function declare(module, declaration, written) {
  const names = namesOf(declaration);
  for (const name of names) {
    const all = module.declarations.get(name) ?? [];
    all.push({ ...written, type: declaration.type, mentions: mentionsIn(declaration) });
    module.declarations.set(name, all);
  }
  return names;
}

function namesOf({ type, id, identifier, declarations }) {
  if (type === "VariableDeclaration") return declarations.map((each) => each.id.value);
  const name = (identifier ?? id)?.value;
  return name === undefined ? [] : [name];
}

/**
 * Returns the documentation comment directly before a declaration, without its stars. A comment with an empty line after
 * it is about the whole file.
 */
function lastComment(text) {
  const [, inner = ""] = /\/\*\*((?:(?!\*\/)[\s\S])*)\*\/[ \t]*\n?[ \t]*$/.exec(text) ?? [];
  return inner.replaceAll(/^[ \t]*\* ?/gm, "").trim();
}

/**
 * Returns the names of the types that a declaration uses, except its own type parameters, and of values in `typeof`.
 */
function mentionsIn(declaration) {
  const [mentioned, values, parameters] = [new Set(), new Set(), new Set()];
  const open = [declaration];
  for (const node of open) {
    if (node === null || typeof node !== "object") continue;
    if (node.type === "TsTypeReference") mentioned.add(leftmost(node.typeName));
    if (node.type === "TsTypeQuery") values.add(leftmost(node.exprName));
    if (node.type === "TsExpressionWithTypeArguments" && node.expression.type === "Identifier")
      mentioned.add(node.expression.value);
    if (node.type === "TsTypeParameter") parameters.add(node.name.value);
    if (node.type === "ClassDeclaration" && node.superClass?.type === "Identifier")
      mentioned.add(node.superClass.value);
    for (const [key, value] of Object.entries(node)) if (key !== "span") open.push(value);
  }
  return { types: [...mentioned].filter((name) => name !== undefined && !parameters.has(name)), values: [...values] };
}

function leftmost(name) {
  return name?.type === "TsQualifiedName" ? leftmost(name.left) : name?.value;
}

/** Compares names in the same order on every machine, independent of its language. */
function byCode(a, b) {
  return a < b ? -1 : 1;
}

/** Reads declarations. `packages` maps names of packages to the files of their entry points. */
export function createReader(packages) {
  const modules = new Map();

  function load(file) {
    if (!modules.has(file)) modules.set(file, readModule(file));
    return modules.get(file);
  }

  function fileOf(from, specifier) {
    if (packages.has(specifier)) return packages.get(specifier);
    if (!specifier.startsWith(".")) return undefined;
    const file = join(dirname(from), isCompiled(from) ? specifier.replace(/[.]ts$/, ".d.ts") : specifier);
    return existsSync(file) ? file : undefined;
  }

  /** Returns where a name that a file uses is declared; undefined for declarations of other packages. */
  function resolve(file, name) {
    const module = load(file);
    if (module.declarations.has(name)) return { file, name };
    const imported = module.imports.get(name);
    return imported && resolveExport(fileOf(file, imported.from), imported.name);
  }

  function resolveExport(file, name) {
    if (file === undefined) return undefined;
    const module = load(file);
    const found = module.exports.get(name);
    if (found?.from !== undefined) return resolveExport(fileOf(file, found.from), found.name);
    if (found !== undefined) return resolve(file, found.name);
    for (const star of module.stars) {
      const declared = resolveExport(fileOf(file, star), name);
      if (declared) return declared;
    }
    return undefined;
  }

  function exportsOf(file) {
    const { exports, stars } = load(file);
    return [...exports.keys(), ...stars.flatMap((star) => exportsOf(fileOf(file, star)))];
  }

  return {
    resolve,
    declarations: ({ file, name }) => load(file).declarations.get(name),
    /** Returns the exports of a module in alphabetical order, each with the place of its declaration. */
    publicNames: (file) =>
      [...new Set(exportsOf(file))].sort(byCode).map((name) => {
        const declared = resolveExport(file, name);
        if (declared === undefined) throw new Error(`${file} exports ${name}, which is declared nowhere`);
        return { name, declared };
      }),
  };
}
