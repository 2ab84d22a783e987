/** Validates a parsed settings file. Reports wrong types, unknown keys and repeated keys, each with its position. */

import { parseUrl } from "@fairlead/wire/text";
import type { Node } from "../../files/json/jsonc.ts";
import { limits } from "../../limits.ts";
import { closest } from "../../text/closest.ts";
import { toVisibleLine } from "../../text/safe-text.ts";
import type { Scope } from "../define/definition.ts";
import { whyNotServerName } from "../define/server-name.ts";
import { entriesOf, itemNodes, type JsonProperty, propertyNodes } from "../read/nodes.ts";
import type { LeafKey, NamedKey, NumberKey, ObjectKey, SettingsKey, TextKey, TextsKey } from "./key.ts";
import { settingsSchema } from "./schema.ts";

/** One mistake in a settings file, with its position. */
export interface SettingsFinding {
  /** The path of the wrong value in the file. */
  readonly path: readonly string[];
  readonly node: Node;
  readonly severity: "error" | "warning";
  readonly message: string;
  readonly next?: string;
}

/** A value in the settings file, and the function that reports mistakes in this value. */
interface CheckedValue {
  readonly path: readonly string[];
  readonly node: Node;
  readonly scope: Scope;
  readonly report: (finding: SettingsFinding) => void;
}

/** Returns all mistakes in a settings file. In a workspace file, some keys are not allowed. */
export function validate(root: Node, scope: Scope = "user"): readonly SettingsFinding[] {
  const findings: SettingsFinding[] = [];
  check({ path: [], node: root, scope, report: (finding) => findings.push(finding) }, settingsSchema);
  return findings;
}

function check(checked: CheckedValue, key: SettingsKey): void {
  const { instead } = key.type === "object" ? key : {};
  if (instead !== undefined && checked.node.type === wantedTypes[instead.type].type) check(checked, instead);
  else if (key.type === "object") checkObject(checked, key);
  else if (key.type === "named") checkNamed(checked, key);
  else {
    checkLeaf(checked, key);
    if (key.ignored !== undefined) warn(checked, `${quoted(checked)} is ignored: ${key.ignored}`);
    if (checked.scope === "workspace" && key.workspace === "never: set it in user or system settings")
      warn(checked, `${quoted(checked)} applies only in user or system settings; here it is ignored`);
    if (["workspace", "user"].includes(checked.scope) && key.workspace === "never: set it in system settings")
      warn(checked, `${quoted(checked)} applies only in system settings; here it is ignored`);
  }
}

function checkNamed(checked: CheckedValue, { each }: NamedKey): void {
  for (const property of propertiesAt(checked)) {
    const at = below(checked, property);
    const flaw = whyNotServerName(property.name);
    if (flaw !== undefined) error({ ...at, node: property.key }, `the name "${toVisibleLine(property.name)}" ${flaw}`);
    check(at, each);
  }
}

function checkObject(checked: CheckedValue, { properties, shared, instead }: ObjectKey): void {
  for (const property of propertiesAt(checked, instead && wantedTypes[instead.type].words)) {
    const { name, key } = property;
    const inner = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (inner !== undefined) {
      check(below(checked, property), inner);
      continue;
    }
    const meant = closest(name, Object.keys(properties));
    // Other programs may add keys here, so Fairlead reports an unknown key only if it looks misspelt.
    if (shared && meant === undefined) continue;
    const at = { ...below(checked, property), node: key };
    warn(at, `${quoted(at)} is not a known key here and is ignored`, didYouMean(meant));
  }
}

/** Returns the last property of each name. Reports repeated names. */
function propertiesAt(checked: CheckedValue, instead?: string): Iterable<JsonProperty> {
  if (checked.node.type !== "object") {
    const wanted = instead === undefined ? "an object" : `an object or ${instead}`;
    error(checked, `${quoted(checked)} must be ${wanted}, not ${typeNames[checked.node.type]}`);
    return [];
  }
  const counting = entriesOf(checked.node);
  for (const property of propertyNodes(checked.node)) {
    if (counting.get(property.name)?.key === property.key) continue;
    const at = { ...below(checked, property), node: property.key };
    const isInEntry = at.path[0] === "mcpServers" && at.path.length > 1;
    if (isInEntry) error(at, `${quoted(at)} is written more than once`, "Remove all but one of them.");
    else warn(at, `${quoted(at)} is written more than once; ${countsOf(at.path, property.value)} counts`);
  }
  return counting.values();
}

/**
 * Says which value of a repeated key counts, as in `combineRepeated`: the strictest value, or the last one for strings
 * and for keys of other programs.
 */
function countsOf([first = ""]: readonly string[], { type }: Node): string {
  const isStrict = ["mcp", "fairlead", "security"].includes(first) && type !== "string";
  return isStrict ? "the strictest value" : "the last one";
}

function checkLeaf(checked: CheckedValue, key: LeafKey): void {
  const wanted = wantedTypes[key.type];
  if (checked.node.type !== wanted.type) {
    error(checked, `${quoted(checked)} must be ${wanted.words}, not ${typeNames[checked.node.type]}`);
    return;
  }
  switch (key.type) {
    case "text":
      checkText(checked, key);
      break;
    case "number":
      checkNumber(checked, key);
      break;
    case "list":
      checkItems(checked);
      break;
    case "texts":
      checkTexts(checked, key);
      break;
    case "lists":
      for (const property of propertiesAt(checked)) checkLeaf(below(checked, property), { ...key, type: "list" });
      break;
    case "switch":
    case "section":
      break;
  }
}

function checkText(checked: CheckedValue, { oneOf, format, expanded }: TextKey): void {
  const text = String(checked.node.value);
  const flaw = flawOf(text);
  if (flaw !== undefined) error(checked, `${quoted(checked)} ${flaw}`);
  else if (oneOf !== undefined && !oneOf.includes(text))
    error(
      checked,
      `${quoted(checked)} is "${text}", which is none of ${oneOf.join(", ")}`,
      didYouMean(closest(text, oneOf)),
    );
  // A value with variables is checked after the variables are expanded.
  const reason = format === undefined || expanded ? undefined : whyNotUrl(text, format);
  if (reason !== undefined) error(checked, `${quoted(checked)} is "${text}", which is ${reason}`);
}

/** Returns why a text is no usable URL, such as "not a URL". Undefined if it is one. */
export function whyNotUrl(text: string, format: NonNullable<TextKey["format"]>): string | undefined {
  const allowed = format === "https-url" ? ["https:"] : ["http:", "https:"];
  if (parseUrl(text) === undefined) return "not a URL";
  const { protocol } = new URL(text);
  return allowed.includes(protocol) ? undefined : `not an ${allowed.map((start) => `${start}//`).join(" or ")} URL`;
}

function checkNumber(checked: CheckedValue, { minimum, maximum }: NumberKey): void {
  const value = Number(checked.node.value);
  if (value < minimum || value > maximum)
    error(checked, `${quoted(checked)} is ${value}; it must be between ${minimum} and ${maximum}`);
}

function checkItems(checked: CheckedValue): void {
  for (const [index, node] of itemNodes(checked.node).entries()) {
    const item = `item ${index + 1} of ${quoted(checked)}`;
    if (node.type !== "string") error({ ...checked, node }, `${item} must be text, not ${typeNames[node.type]}`);
    else {
      const flaw = flawOf(String(node.value));
      if (flaw !== undefined) error({ ...checked, node }, `${item} ${flaw}`);
    }
  }
}

function checkTexts(checked: CheckedValue, { names }: TextsKey): void {
  const rule = nameRules[names];
  for (const property of propertiesAt(checked)) {
    const at = below(checked, property);
    const { type } = property.value;
    const text = String(property.value.value);
    if (!rule.name.test(property.name))
      error({ ...at, node: property.key }, `${quoted(at)} cannot be the name of ${rule.words}`);
    if (type === "number" || type === "boolean")
      warn(at, `${quoted(at)} is ${text}; Fairlead uses it as the text "${text}"`);
    else if (type !== "string") error(at, `${quoted(at)} must be text, not ${typeNames[type]}`);
    else {
      const isBroken = names === "header" && /[\r\n]/.test(text);
      const flaw = isBroken ? "has a line break in it" : flawOf(text);
      if (flaw !== undefined) error(at, `${quoted(at)} ${flaw}`);
    }
  }
}

const nameRules = {
  environment: { name: /^[^=\0]+$/, words: "an environment variable" },
  header: { name: /^[!#$%&'*+.^`|~\w-]+$/, words: "a header" },
} as const;

/** Returns why no setting may contain the string. Undefined if it is acceptable. */
function flawOf(text: string): string | undefined {
  if (text.includes("\0")) return "has a NUL character in it";
  return text.length > limits.settingsText ? `is longer than ${limits.settingsText} characters` : undefined;
}

function below(checked: CheckedValue, { name, value }: JsonProperty): CheckedValue {
  return { ...checked, path: [...checked.path, name], node: value };
}

function quoted({ path }: CheckedValue): string {
  return `"${path.at(-1) ?? ""}"`;
}

function didYouMean(meant: string | undefined): string | undefined {
  return meant === undefined ? undefined : `Did you mean "${meant}"?`;
}

const typeNames: Readonly<Record<Node["type"], string>> = {
  object: "an object",
  array: "a list",
  property: "a property",
  string: "text",
  number: "a number",
  boolean: "true or false",
  null: "null",
};

const wantedTypes = {
  text: { type: "string", words: "text" },
  switch: { type: "boolean", words: "true or false" },
  number: { type: "number", words: "a number" },
  list: { type: "array", words: "a list of texts" },
  texts: { type: "object", words: "an object" },
  lists: { type: "object", words: "an object" },
  section: { type: "object", words: "an object" },
} as const;

function error(checked: CheckedValue, message: string, next?: string): void {
  say("error", checked, message, next);
}

function warn(checked: CheckedValue, message: string, next?: string): void {
  say("warning", checked, message, next);
}

function say(
  severity: SettingsFinding["severity"],
  { path, node, report }: CheckedValue,
  message: string,
  next?: string,
): void {
  report({ path, node, severity, message, next });
}
