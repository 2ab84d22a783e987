/** Tools as no server should list them, for properties that must hold whatever a server sends. */

import { followReference } from "@fairlead/core/normalise/schema/pointer";
import type { CatalogTool } from "@fairlead/core/server/catalog";
import { isObject, listOf, member, objectOf } from "@fairlead/wire/json";
import fc from "fast-check";

const texts = fc.constantFrom(
  "a",
  "b",
  "a-b",
  "a_b",
  "A b",
  "1",
  "",
  "é",
  "搜索",
  "😀",
  "then",
  "toString",
  "constructor",
  "__proto__",
  "type",
  "*/",
  "*\u200b/",
  "/**",
  "`${process.exit()}`",
  '"',
  "\\",
  "\\u0041",
  "'",
  "\n",
  "a\r\nb",
  "\u2028",
  "\u202e",
  "\0",
  "@ts-expect-error",
  "@deprecated",
  "{@link a}",
  "</script>",
  "//",
  "\ud800",
  "[key: string]",
  "x".repeat(300),
  "class",
  "interface",
  "string",
  "Promise",
  "Typed",
  "CallResult",
  "HostError",
  "AArguments",
  "\u00a0",
  "\u2066a",
);
const words = fc.array(texts, { maxLength: 4 }).map((parts) => parts.join(" "));
const values = fc.constantFrom<unknown>(
  "",
  "a",
  "*/",
  "\u2028",
  0,
  -1,
  1.5,
  1e21,
  true,
  false,
  null,
  [],
  [1, ["a"]],
  {},
  { "a b": "`" },
);

function mapOf<T>(inner: fc.Arbitrary<T>): fc.Arbitrary<Record<string, T>> {
  return fc.array(fc.tuple(texts, inner), { maxLength: 3 }).map((entries) => Object.fromEntries(entries));
}

/** Any schema; a sound one has no mistake that validation would have to leave out. */
const schemas = (isSound: boolean): fc.Arbitrary<unknown> =>
  fc.letrec<{ schema: unknown }>((tie) => {
    const inner = tie("schema");
    const list = fc.array(inner, { minLength: 1, maxLength: 3 });
    const optional = <T extends object>(members: { [Key in keyof T]: fc.Arbitrary<T[Key]> }) =>
      fc.record(members, { requiredKeys: [] }).map((found) => ({ ...found }));
    const annotations = optional({ description: words, default: values, format: texts, deprecated: fc.boolean() });
    const types = fc.constantFrom(
      "string",
      "number",
      "integer",
      "boolean",
      "null",
      ["string", "null"],
      ["object", "array"],
    );
    const object = optional({
      properties: mapOf(inner),
      required: fc.array(texts, { maxLength: 2 }).map((names) => [...new Set(names)]),
      additionalProperties: fc.oneof(fc.boolean(), inner),
      patternProperties: fc.constant({ "^x": { type: "string" } }),
    }).map((rules) => ({ type: "object", ...rules }));
    const array = optional({
      items: fc.oneof(inner, list),
      prefixItems: list,
      minItems: fc.nat(2),
      maxItems: fc.nat(3),
    }).map((rules) => ({ type: "array", ...rules }));
    const sound = ["#/$defs/a", "#/$defs/b", "#/$defs/*~1"];
    const reference = fc
      .constantFrom(...sound, ...(isSound ? [] : ["#", "#/properties/a", "#/$defs/none", "https://example.com/a"]))
      .map(($ref) => ({ $ref }));
    const combination = optional({ anyOf: list, oneOf: list, allOf: list });
    const choice = fc.oneof(
      fc.array(values, { minLength: 1, maxLength: 4 }).map((members) => ({ enum: members })),
      values.map((only) => ({ const: only })),
    );
    const rules = fc.oneof(
      { depthSize: "small" },
      types.map((type) => ({ type })),
      choice,
      object,
      reference,
      array,
      combination,
    );
    const whole = fc.tuple(
      rules,
      annotations,
      fc.oneof({ weight: 4, arbitrary: fc.constant({}) }, { weight: 1, arbitrary: combination }),
    );
    return {
      schema: fc.oneof(
        { weight: 1, arbitrary: fc.constantFrom<unknown>(true, {}, ...(isSound ? [] : [false, null, "schema"])) },
        { weight: 12, arbitrary: whole.map((parts): unknown => Object.assign({}, ...parts)) },
      ),
    };
  }).schema;

const unsound = schemas(false);
const inputSchema = fc.tuple(unsound, mapOf(unsound), unsound, unsound).map(([raw, properties, a, b]): object => ({
  type: "object",
  properties,
  ...objectOf(raw),
  $defs: { a, b, "*/": b },
}));

export const hostileTool: fc.Arbitrary<CatalogTool> = fc
  .record({ name: words, description: words, inputSchema, outputSchema: fc.option(inputSchema, { nil: undefined }) })
  .map(({ outputSchema, ...tool }) => ({ ...tool, ...(outputSchema && { outputSchema }) }) as CatalogTool);

const sound = schemas(true);
/** Arguments of which values can be made. */
export const soundSchema: fc.Arbitrary<object> = fc
  .tuple(mapOf(sound), fc.array(texts, { maxLength: 2 }), sound, sound)
  .map(([properties, names, a, b]) => {
    const required = [...new Set(names)];
    return { type: "object", properties, ...(required.length > 0 && { required }), $defs: { a, b, "*/": b } };
  });

/** Values of a schema, as far as a simple reading goes: `turn` chooses among alternatives. The reader checks them. */
export function sampleOf(raw: unknown, root: unknown, turn: number, depth = 0): unknown {
  if (!isObject(raw) || depth > 8) return "any";
  const { $ref, properties, items, prefixItems, required, additionalProperties } = raw;
  const inner = (at: unknown, next = turn): unknown => sampleOf(at, root, next, depth + 1);
  const choose = (list: readonly unknown[]): unknown => list[turn % list.length];
  if (typeof $ref === "string") return inner(followReference(root, $ref));
  if ("const" in raw) return raw["const"];
  if (listOf(raw["enum"]).length > 0) return choose(listOf(raw["enum"]));
  for (const keyword of ["anyOf", "oneOf", "allOf"])
    if (listOf(raw[keyword]).length > 0 && !isObject(properties)) return inner(choose(listOf(raw[keyword])), turn + 1);
  const simple = { string: "text", number: 1.5, integer: 2, boolean: turn % 2 === 0, null: null };
  const type = choose([member(raw, "type") ?? "object"].flat());
  if (type === "array") {
    const places = [...listOf(prefixItems), ...(Array.isArray(items) ? items : [])];
    return [...places.slice(0, 1 + turn), ...(turn > 0 && isObject(items) ? [items] : [])].map((at) => inner(at));
  }
  if (type !== "object") return simple[type as keyof typeof simple];
  const named = Object.entries(objectOf(properties)).filter(([name]) => turn > 0 || listOf(required).includes(name));
  const undescribed = listOf(required).filter((name) => !Object.hasOwn(objectOf(properties), String(name)));
  const others = isObject(additionalProperties) && turn > 1 ? [["other", inner(additionalProperties)]] : [];
  return Object.fromEntries([
    ...named.map(([name, at]) => [name, inner(at)]),
    ...undescribed.map((name) => [name, 1]),
    ...others,
  ]);
}
