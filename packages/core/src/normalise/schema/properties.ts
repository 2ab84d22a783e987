/** Collects the properties of an object schema, required ones first. Pure. */

import { isObject, listOf, member } from "@fairlead/wire/json";
import { argumentSchema } from "./argument-schema.ts";
import { resolved } from "./pointer.ts";

/** One property of an object schema. `schema` is not checked. */
export interface Property {
  readonly name: string;
  readonly required: boolean;
  readonly schema: unknown;
}

/** The direct properties of a schema, required ones first. */
export function propertiesOf(schema: unknown): readonly Property[] {
  const required = new Set(listOf(member(schema, "required")));
  const properties = member(schema, "properties");
  if (!isObject(properties)) return [];
  return requiredFirst(
    Object.entries(properties).map(([name, inner]) => ({ name, required: required.has(name), schema: inner })),
  );
}

/** Maximum number of schemas in `allOf`, `anyOf` and `oneOf` to read. They may be nested. */
const mostBranches = 100;

/**
 * Returns the parameters of a tool, including those in `allOf`, `anyOf`, `oneOf` and referenced schemas. A parameter
 * that has a default is not required.
 */
export function parametersOf(inputSchema: unknown): readonly Property[] {
  return allPropertiesOf(isObject(inputSchema) ? argumentSchema(inputSchema) : inputSchema);
}

/** Returns the properties of a schema, including those in `allOf`, `anyOf`, `oneOf` and referenced schemas. */
export function allPropertiesOf(root: unknown): readonly Property[] {
  const found = new Map<string, Property>();
  const branches = [{ schema: root, isSure: true }];
  for (const { schema, isSure } of branches) {
    const here = resolved(schema, root);
    for (const property of propertiesOf(here)) {
      const earlier = found.get(property.name);
      const required = (isSure && property.required) || earlier?.required === true;
      found.set(property.name, { ...property, ...earlier, required });
    }
    const inner = (keyword: string): readonly unknown[] => listOf(member(here, keyword)).slice(0, mostBranches);
    const sure = inner("allOf").map((branch) => ({ schema: branch, isSure }));
    // A value need not match every schema in `anyOf` or `oneOf`, so their properties do not count as required.
    const unsure = [...inner("anyOf"), ...inner("oneOf")].map((branch) => ({ schema: branch, isSure: false }));
    branches.push(...[...sure, ...unsure].slice(0, mostBranches - branches.length));
  }
  return requiredFirst([...found.values()]);
}

function requiredFirst(properties: readonly Property[]): readonly Property[] {
  return [...properties.filter(({ required }) => required), ...properties.filter(({ required }) => !required)];
}
