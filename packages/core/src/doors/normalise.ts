/** What the command and the gateway use of schemas, names and content. */

export { blockText, plainDisplay, withoutLineEnd } from "../normalise/content/display.ts";
export { mediaText } from "../normalise/content/json-text.ts";
export { extensionOf, toMediaType } from "../normalise/content/media-type.ts";
export { asUntrusted, createNonce } from "../normalise/content/untrusted.ts";
export type { Content, Part } from "../normalise/model-types.ts";
export { toPlainArguments } from "../normalise/plain-arguments.ts";
export { argumentSchema } from "../normalise/schema/argument-schema.ts";
export { baseOf, openDocument, type SchemaDocument, type Spot } from "../normalise/schema/document.ts";
export { subschemas } from "../normalise/schema/keywords.ts";
export { lastStep, pointerTo, resolved } from "../normalise/schema/pointer.ts";
export { allPropertiesOf, type Property, parametersOf } from "../normalise/schema/properties.ts";
export { textOf } from "../normalise/schema/read/bounds.ts";
export { type JsonType, shapesOf, takes, type ValueShape } from "../normalise/schema/value-shape.ts";
export { createTypeWriter, fold, type TypeLimits, toKey, toLiteral } from "../normalise/schema/write/type-text.ts";
export { possibleNames, toolKey } from "../normalise/tool-name.ts";
