/*
 * The changes that a test should notice. Each is a small mistake that a person could make, at one place of a source
 * file.
 */
import { parseSync } from "@swc/core";

const swaps = {
  "===": "!==",
  "!==": "===",
  "<": "<=",
  "<=": "<",
  ">": ">=",
  ">=": ">",
  "&&": "||",
  "||": "&&",
  "-": "+",
  "*": "/",
  "/": "*",
  "%": "*",
};
const methods = {
  some: "every",
  every: "some",
  startsWith: "endsWith",
  endsWith: "startsWith",
  find: "findLast",
  findLast: "find",
  push: "unshift",
  unshift: "push",
  min: "max",
  max: "min",
  trimEnd: "trimStart",
  trimStart: "trimEnd",
  replaceAll: "replace",
  toLowerCase: "toUpperCase",
  indexOf: "lastIndexOf",
  lastIndexOf: "indexOf",
  shift: "pop",
  pop: "shift",
};
/** Parts of the source that are not changed: types, imports and the wording of errors. */
const left = new Set([
  "ImportDeclaration",
  "ExportAllDeclaration",
  "ExportNamedDeclaration",
  "JSXAttribute",
  "TsEnumDeclaration",
]);
const throughTypes = new Set(["TsAsExpression", "TsNonNullExpression", "TsSatisfiesExpression", "TsConstAssertion"]);
const typeKeys = new Set([
  "typeAnnotation",
  "typeParams",
  "typeParameters",
  "typeArguments",
  "returnType",
  "superTypeParams",
  "implements",
]);

/** Returns every change of one file: its position in bytes, the old text and the new text. */
export function mutantsOf(file, source) {
  const bytes = Buffer.from(source);
  const program = parseSync(source, {
    syntax: "typescript",
    tsx: file.endsWith(".tsx"),
    target: "es2022",
    decorators: false,
  });
  const found = [];
  const at = (node) => ({ start: node.span.start - 1, end: node.span.end - 1 });
  const text = ({ start, end }) => bytes.subarray(start, end).toString();
  const add = (kind, span, replacement) => found.push({ file, kind, ...span, original: text(span), replacement });

  function between(before, after, token) {
    const from = at(before).end;
    const gap = bytes
      .subarray(from, at(after).start)
      .toString()
      .replaceAll(/\/\*[\s\S]*?\*\/|\/\/[^\n]*/g, (comment) => " ".repeat(Buffer.byteLength(comment)));
    const index = gap.indexOf(token);
    if (index === -1) return undefined;
    const start = from + Buffer.byteLength(gap.slice(0, index));
    return { start, end: start + token.length };
  }

  const visitors = {
    BinaryExpression({ operator, left: before, right: after }) {
      const span = between(before, after, operator);
      if (span === undefined) return;
      if (operator === "??") add("fallback", { start: at(before).end, end: at(after).end }, "");
      else if (operator === "+" && [before, after].some(({ type }) => type === "NumericLiteral"))
        add("operator", span, "-");
      else if (swaps[operator] !== undefined) add("operator", span, swaps[operator]);
    },
    IfStatement: ({ test }) => add("condition", at(test), `!(${text(at(test))})`),
    ConditionalExpression: ({ test }) => add("condition", at(test), `!(${text(at(test))})`),
    BooleanLiteral: (node) => add("boolean", at(node), String(!node.value)),
    ReturnStatement({ argument }) {
      // `false` and `null` mostly mean the same as `undefined`, and booleans are inverted anyway.
      if (argument && !/^(?:undefined|null|true|false)$/.test(text(at(argument))))
        add("return", at(argument), "undefined");
    },
    ExpressionStatement(node) {
      const call = node.expression.type === "AwaitExpression" ? node.expression.argument : node.expression;
      if (call.type === "CallExpression" && call.callee.type !== "Super") add("call", at(node), ";");
    },
    StringLiteral(node, { inError }) {
      // Text with spaces is for people; its wording does not change what the program does.
      if (node.value !== "" && !inError && !/\s/.test(node.value)) add("string", at(node), '""');
    },
    OptionalChainingExpression({ optional, base }) {
      if (!optional) return;
      const object = base.object ?? base.callee;
      const end = at(object).end;
      const index = bytes.indexOf("?.", end);
      const next = bytes.subarray(index + 2, index + 3).toString();
      if (index !== -1) add("optional", { start: index, end: index + 2 }, next === "(" || next === "[" ? "" : ".");
    },
    CallExpression({ callee, arguments: [first] }) {
      const name =
        callee.type === "MemberExpression" && callee.property.type === "Identifier" ? callee.property : undefined;
      // With a regular expression, which must be global, `replace` does what `replaceAll` does.
      if (name?.value === "replaceAll" && first?.expression.type !== "StringLiteral") return;
      if (name !== undefined && Object.hasOwn(methods, name.value)) add("method", at(name), methods[name.value]);
    },
  };

  function visit(node, context) {
    if (Array.isArray(node)) {
      for (const each of node) visit(each, context);
      return;
    }
    if (typeof node !== "object" || node === null) return;
    if (typeof node.type === "string") {
      if (left.has(node.type) || node.callee?.type === "Import") return;
      if (node.type.startsWith("Ts") && !throughTypes.has(node.type)) return;
      visitors[node.type]?.(node, context);
    }
    const inError = context.inError || node.type === "ThrowStatement" || isErrorMade(node);
    for (const [key, value] of Object.entries(node)) {
      if (typeKeys.has(key) || key === "span") continue;
      // Keys of objects, and strings that stand alone ("use strict"), are not changed.
      if (key === "key" && node.type !== "Computed") continue;
      if (key === "expression" && node.type === "ExpressionStatement" && value.type === "StringLiteral") continue;
      visit(value, { inError });
    }
  }
  visit(program.body, { inError: false });
  return found.map((mutant) => ({ ...mutant, line: lineAt(bytes, mutant.start) }));
}

/** Returns the source with the change. */
export function applied(source, { start, end, replacement }) {
  const bytes = Buffer.from(source);
  return Buffer.concat([bytes.subarray(0, start), Buffer.from(replacement), bytes.subarray(end)]).toString();
}

function isErrorMade({ type, callee }) {
  const name = callee?.value ?? "";
  return (type === "NewExpression" || type === "CallExpression") && /error|diagnos|warn|problem|log$/i.test(name);
}

function lineAt(bytes, offset) {
  let line = 1;
  for (let i = 0; i < offset; i += 1) if (bytes[i] === 10) line += 1;
  return line;
}
