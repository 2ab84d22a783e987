/** Values for the properties of a schema, as a user would type them. */

/** A value for every property without a default; the host fills in the defaults itself. */
export function fill(schema) {
  const properties = Object.entries(schema?.properties ?? {}).filter(([, { default: usual }]) => usual === undefined);
  return Object.fromEntries(properties.map(([name, property]) => [name, sample(property)]));
}

function sample({ type, enum: choices }) {
  if (Array.isArray(choices)) return choices[0];
  const samples = { string: "text", number: 1.5, integer: 2, boolean: true, array: [], object: {} };
  return samples[type] ?? "text";
}
