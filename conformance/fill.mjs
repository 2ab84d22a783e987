/** Fills in the properties of a schema with values that a user could type. */

/** Returns a value for every property without a default. The host itself fills in the defaults. */
export function fill(schema) {
  const properties = Object.entries(schema?.properties ?? {}).filter(([, { default: usual }]) => usual === undefined);
  return Object.fromEntries(properties.map(([name, property]) => [name, sample(property)]));
}

function sample({ type, enum: choices }) {
  if (Array.isArray(choices)) return choices[0];
  const samples = { string: "text", number: 1.5, integer: 2, boolean: true, array: [], object: {} };
  return samples[type] ?? "text";
}
