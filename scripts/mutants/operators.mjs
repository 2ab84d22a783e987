/*
 * Finds the mutants of a source file. Each is a small mistake that a person could make, at one place of the file.
 * `?.` is not changed, because the compiler refuses `.` where the value may be undefined. `form`, `whole` and `token`
 * say how switches.mjs writes the mutant so that it can be switched on and off.
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
/** Nodes that are not changed, with everything in them. */
const unchangedNodes = new Set([
  "ImportDeclaration",
  "ExportAllDeclaration",
  "ExportNamedDeclaration",
  "JSXAttribute",
  "TsEnumDeclaration",
]);
/** Code in these nodes does not run when its module is loaded. */
const functions = new Set([
  "ArrowFunctionExpression",
  "FunctionDeclaration",
  "FunctionExpression",
  "MethodProperty",
  "GetterProperty",
  "SetterProperty",
  "Constructor",
  "ClassMethod",
  "PrivateMethod",
  "ClassProperty",
  "PrivateProperty",
]);
/** TypeScript nodes that contain an expression, which is changed. Other TypeScript nodes are not changed. */
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

/**
 * Returns every mutant of one file: its position in bytes, the old text, the new text, and its form. `whole` is the
 * expression or statement that contains the change, and `token` the part of it that the switch replaces.
 */
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
  /** How many functions are around the part that is being visited. */
  let depth = 0;
  const add = (kind, span, replacement, { form = kind, whole = span, token } = {}) => {
    const change = { file, kind, ...span, original: text(span), replacement };
    found.push({ ...change, form, whole, ...(token && { token }), isTopLevel: depth === 0 });
  };

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
    BinaryExpression(node) {
      const { operator, left: before, right: after } = node;
      const token = between(before, after, operator);
      if (token === undefined) return;
      const whole = at(node);
      const isSum = operator === "+" && [before, after].some(({ type }) => type === "NumericLiteral");
      if (operator === "??") add("fallback", { start: at(before).end, end: at(after).end }, "", { whole, token });
      else if (isSum) add("operator", token, "-", { whole, token });
      else if (swaps[operator] !== undefined) add("operator", token, swaps[operator], { whole, token });
    },
    IfStatement: ({ test }) => add("condition", at(test), `!(${text(at(test))})`, { form: "inversion" }),
    ConditionalExpression: ({ test }) => add("condition", at(test), `!(${text(at(test))})`, { form: "inversion" }),
    BooleanLiteral: (node) => add("boolean", at(node), String(!node.value), { form: "inversion" }),
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
    CallExpression({ callee, arguments: [first] }) {
      const name =
        callee.type === "MemberExpression" && callee.property.type === "Identifier" ? callee.property : undefined;
      // With a regular expression, which must be global, `replace` does what `replaceAll` does.
      if (name?.value === "replaceAll" && first?.expression.type !== "StringLiteral") return;
      if (name === undefined || !Object.hasOwn(methods, name.value)) return;
      // The switch also replaces the dot before the name, because it writes `list["some"]`.
      const token = { start: bytes.lastIndexOf(".", at(name).start), end: at(name).end };
      add("method", at(name), methods[name.value], { whole: token, token });
    },
  };

  function visit(node, context) {
    if (Array.isArray(node)) {
      for (const each of node) visit(each, context);
      return;
    }
    if (typeof node !== "object" || node === null) return;
    if (typeof node.type === "string") {
      if (unchangedNodes.has(node.type) || node.callee?.type === "Import") return;
      if (node.type.startsWith("Ts") && !throughTypes.has(node.type)) return;
      visitors[node.type]?.(node, context);
    }
    const inError = context.inError || node.type === "ThrowStatement" || isMessageCall(node);
    const isFunction = functions.has(node.type);
    if (isFunction) depth += 1;
    for (const [key, value] of Object.entries(node)) {
      if (typeKeys.has(key) || key === "span") continue;
      // Keys of objects, and directives such as "use strict", are not changed.
      if (key === "key" && node.type !== "Computed") continue;
      if (key === "expression" && node.type === "ExpressionStatement" && value.type === "StringLiteral") continue;
      visit(value, { inError });
    }
    if (isFunction) depth -= 1;
  }
  visit(program.body, { inError: false });
  return found.map((mutant) => ({ ...mutant, line: lineAt(bytes, mutant.start) }));
}

/** Returns the source with one mutant, without a switch. */
export function applied(source, { start, end, replacement, whole }) {
  const bytes = Buffer.from(source);
  const text = (from, to) => bytes.subarray(from, to).toString();
  const isLogical = replacement === "&&" || replacement === "||";
  // In `a && b && c`, the other operator would bind differently without parentheses.
  const [open, close] = isLogical ? ["(", ")"] : ["", ""];
  const changed = `${open}${text(whole.start, start)}${replacement}${text(end, whole.end)}${close}`;
  return `${text(0, whole.start)}${changed}${text(whole.end)}`;
}

/** Whether the node creates an error or reports a message. Strings in it are text for people. */
function isMessageCall({ type, callee }) {
  const name = callee?.value ?? "";
  return (type === "NewExpression" || type === "CallExpression") && /error|diagnos|warn|problem|log$/i.test(name);
}

function lineAt(bytes, offset) {
  let line = 1;
  for (let i = 0; i < offset; i += 1) if (bytes[i] === 10) line += 1;
  return line;
}
