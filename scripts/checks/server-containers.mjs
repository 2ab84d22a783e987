/*
 * Finds containers that are keyed by a server's name and live longer than a call. The state of a server belongs to its
 * `Server` and `Connection` objects, which only core/src/server/servers.ts finds by name: a second map by name would still
 * hold the state of an earlier definition after a reload.
 *
 * A container is a `Map`, a `Set` or a record that is declared in the file. It lives longer than a call if it is a member of
 * a class or of an object, a variable of the module, or a variable of a factory: a function whose inner functions use it. A
 * function with a promise is a factory only if it returns these inner functions. The key is a server's name if it is written
 * as one (`server`, `serverName`, `tool.server`, `definition.name` …), or if the container's values are servers.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { parse } from "@swc/core";
import { sourcePaths } from "./sources.mjs";

const checked = /^packages\/(?:core|gateway|team|cli)\/src\//;
const owner = "packages/core/src/server/servers.ts";

/** Containers that may be keyed by a server's name, by file and name, and why. */
export const exceptions = {
  "core/src/connect/server-log.ts": {
    logs: "one file for each name, whatever its definition: two writers of one file would lose lines when it is rotated",
  },
  "core/src/execute/call-queue.ts": {
    lines: "the limit counts the calls of all connections to a server; an entry exists only while calls run or wait",
  },
  "core/src/gemini/allow-list.ts": {
    servers: "the seeds' allow list is asked by name, and there is no host",
    tools: "the seeds' allow list is asked by name, and there is no host",
  },
  "core/src/gemini/client-manager.ts": { clients: "the seeds' manager, which owns its clients; there is no host" },
  "core/src/gemini/permission-manager.ts": { permitted: "the seeds' permission manager is asked by name" },
  "core/src/gemini/server-status.ts": { statuses: "the seeds' functions ask for a status by name, in a whole process" },
  "core/src/policy/conversation-approvals.ts": {
    tools: "the approvals of a conversation, each with the definition that it is for",
    whole: "the approvals of a conversation, each with the definition that it is for",
    reads: "the approvals of a conversation, each with the definition that it is for",
  },
  "core/src/search/tool-index.ts": { servers: "the search index, which is built from the tools of the registry" },
  "core/src/search/tool-search.ts": {
    digests: "says which servers of the search index are up to date",
    byServer: "the tools of one search",
  },
  "core/src/server/names.ts": {
    sizes: "the names that one client has seen; they stay with the name when a definition changes",
    spent: "names are a pure function: this lives as long as one result",
    forms: "names are a pure function: this lives as long as one result",
  },
  "core/src/server/registries.ts": {
    values: "a registry merges catalogs by name; a host's registry is filled from its servers",
    alwaysQualified: "which servers' tools have long names in a registry",
  },
  "core/src/turn/tools/tool-offer.ts": { added: "what one conversation has offered its model so far" },
};

/** Names of variables and members that hold a server's name. */
const serverNames = new Set(["server", "serverName"]);
/** Names of objects whose `name` is a server's name. */
const named = new Set(["server", "definition", "connection", "state"]);
/** Types of values that exist once for each server. */
const perServer = /^(?:Server|ConfiguredServer|AdmittedServer|ServerDefinition|McpClient|Catalog|ServerState)$/;
const keyed = new Set(["Map", "Set", "ReadonlyMap", "ReadonlySet", "Record"]);
const methods = new Set(["get", "has", "set", "add", "delete"]);

/** Returns the violations below `baseDir`, one line each, the exceptions that were needed, and the number of files. */
export async function checkServerContainers(baseDir) {
  const paths = (await sourcePaths(baseDir)).filter((path) => checked.test(path) && path !== owner);
  const violations = [];
  const excepted = new Set();
  for (const path of paths) {
    const text = await readFile(join(baseDir, path), "utf8");
    const program = await parse(text, { syntax: "typescript", tsx: path.endsWith(".tsx"), decorators: true });
    const file = path.replace("packages/", "");
    for (const name of containersIn(program)) {
      if (exceptions[file]?.[name] === undefined)
        violations.push(`${path}: ${name} is keyed by a server's name; keep this state on Server or Connection`);
      else excepted.add(`${file} ${name}`);
    }
  }
  return { files: paths.length, violations, excepted };
}

/** Returns the names of the containers of a file that are keyed by a server's name and live longer than a call. */
function containersIn(program) {
  const members = new Map();
  const uses = [];
  visit(program, { functions: [], scopes: [new Map()], isReturned: false, isArgument: false });
  const found = uses.filter(({ name, key, scopes, functions }) => {
    const variable = scopes.findLast((names) => names.has(name))?.get(name);
    // A name without a declaration of its own may be a member that a pattern such as `{ servers }` took out.
    const container = variable ?? members.get(name);
    if (container === undefined || !(isServerName(key) || perServer.test(container.values))) return false;
    return variable === undefined || outlives(variable.functions, functions);
  });
  return new Set(found.map(({ name }) => name));

  function visit(node, context) {
    if (Array.isArray(node)) {
      for (const each of node) visit(each, context);
      return;
    }
    if (typeof node !== "object" || node === null) return;
    const inner = enter(node, context);
    note(node, inner);
    for (const [member, child] of Object.entries(node)) if (member !== "span") visit(child, inner);
  }

  /** Returns the context of a node's children: the functions around them, and the variables that they see. */
  function enter(node, context) {
    if (node.type === undefined)
      return "expression" in node ? { ...context, isReturned: false, isArgument: true } : context;
    if (node.type === "ReturnStatement") return { ...context, isReturned: true, isArgument: false };
    if (!isFunction(node)) return { ...context, isArgument: false };
    const { isReturned, isArgument } = context;
    return {
      functions: [...context.functions, { isReturned, isArgument, endsItself: returnsPromise(node) }],
      scopes: [...context.scopes, new Map()],
      isReturned: false,
      isArgument: false,
    };
  }

  function note(node, context) {
    switch (node.type) {
      case "VariableDeclarator": {
        const values = valuesOf(node.id.typeAnnotation, node.init);
        if (node.id.type === "Identifier" && values !== undefined)
          context.scopes.at(-1).set(node.id.value, { values, functions: context.functions });
        return;
      }
      case "TsPropertySignature":
        // An interface's readonly container is data that one function passes to another.
        if (node.typeAnnotation?.typeAnnotation.typeName?.value?.startsWith("Readonly") !== true) noteMember(node);
        return;
      case "ClassProperty":
      case "PrivateProperty":
      case "KeyValueProperty":
        noteMember(node);
        return;
      case "CallExpression":
        noteUse(node.callee, node.arguments[0]?.expression, context);
        return;
      case "MemberExpression":
        if (node.property.type === "Computed") noteContainer(node.object, node.property.expression, context);
        return;
      default:
    }
  }

  function noteMember({ key, typeAnnotation, value }) {
    const values = valuesOf(typeAnnotation, value);
    const name = nameOf(key);
    if (name !== undefined && values !== undefined) members.set(name, { values });
  }

  function noteUse(callee, key, context) {
    const member = callee?.type === "OptionalChainingExpression" ? callee.base : callee;
    if (member?.type === "MemberExpression" && methods.has(nameOf(member.property)) && key !== undefined)
      noteContainer(member.object, key, context);
  }

  function noteContainer(object, key, { scopes, functions }) {
    const container = object.type === "OptionalChainingExpression" ? object.base : object;
    // A member such as `this.#states` is never a variable.
    if (container.type === "Identifier") uses.push({ name: container.value, key, scopes, functions });
    else if (container.type === "MemberExpression")
      uses.push({ name: nameOf(container.property), key, scopes: [], functions });
  }
}

/** Whether a container that is declared inside `outer` functions and used inside `inner` ones lives longer than a call. */
function outlives(outer, inner) {
  const factory = outer.at(-1);
  if (factory === undefined) return true;
  // A function that is passed to a call, such as the one of `map`, runs during that call.
  const [between] = inner.slice(outer.length).filter(({ isArgument }) => !isArgument);
  return between !== undefined && (!factory.endsItself || between.isReturned);
}

function returnsPromise(node) {
  const { async: isAsync, returnType } = node.function ?? node;
  return isAsync === true || returnType?.typeAnnotation?.typeName?.value === "Promise";
}

function isFunction({ type }) {
  return /^(?:FunctionDeclaration|FunctionExpression|ArrowFunctionExpression|ClassMethod|PrivateMethod|MethodProperty|Constructor)$/.test(
    type,
  );
}

/**
 * Returns the type of the values of a container, "" if that is not written. Undefined if it is no container, or if its
 * keys are no strings.
 */
function valuesOf(annotation, value) {
  const type = annotation?.typeAnnotation;
  const isCreated = value?.type === "NewExpression" && keyed.has(nameOf(value.callee));
  if (!isCreated && !keyed.has(type?.typeName?.value)) return undefined;
  const [key, values] = (value?.typeArguments ?? type?.typeParams)?.params ?? [];
  if (key !== undefined && key.kind !== "string") return undefined;
  return values?.typeName?.value ?? "";
}

function isServerName(key) {
  if (key.type === "Identifier") return serverNames.has(key.value);
  if (key.type !== "MemberExpression") return false;
  const property = nameOf(key.property);
  if (serverNames.has(property)) return true;
  return (
    property === "name" && named.has(key.object.type === "Identifier" ? key.object.value : nameOf(key.object.property))
  );
}

/** Returns the name of an identifier, of a member, or of a private member without its `#`. */
function nameOf(node) {
  if (node?.type === "PrivateName") return node.id?.value ?? node.value;
  return node?.type === "Identifier" ? node.value : undefined;
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const { files, violations, excepted } = await checkServerContainers(process.cwd());
  const listed = Object.entries(exceptions).flatMap(([file, names]) =>
    Object.keys(names).map((name) => `${file} ${name}`),
  );
  violations.push(
    ...listed.filter((name) => !excepted.has(name)).map((name) => `${name}: this exception is not needed`),
  );
  for (const violation of violations) process.stdout.write(`${violation}\n`);
  process.stdout.write(`server containers: ${files} files, ${violations.length} violations\n`);
  if (violations.length > 0 || files < 20) process.exitCode = 1;
}
