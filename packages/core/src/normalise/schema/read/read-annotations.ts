/** Reads keywords that only describe a value, such as titles, descriptions, defaults and examples. */

import { toModelText } from "../../../text/model-text.ts";
import { enumerate, isFlag, isList, isPresent, isText, quote } from "../json-values.ts";
import { drop, type Keyword, keyword, report, type SchemaNode, tell } from "../schema-node.ts";

const unneeded = (why: string): Keyword => keyword(isPresent, (_, node, name) => drop(node, name, why));
const forPeople = unneeded("A model does not need this keyword.");
const identifies = unneeded("References are replaced by their targets, so this keyword is not needed.");

function visible(text: string, node: SchemaNode, name: string): string {
  const seen = toModelText(text);
  if (seen !== text) report(node, name, "rewritten", "Invisible characters are removed.");
  return seen;
}

const flagSentence = (sentence: string): Keyword =>
  keyword(isFlag, (value, node, name) => {
    if (value) tell(node, name, sentence);
    else drop(node, name, "The keyword has its default value.");
  });

/** The functions that read these keywords, by keyword. */
export const annotations: Readonly<Record<string, Keyword>> = {
  // The Gemini API types list `title` and `description` among the keywords of `responseJsonSchema`.
  title: keyword(isText, (value, node, name) => {
    const seen = visible(value, node, name);
    if (seen !== "" || value === "") node.shape.title = seen;
  }),
  description: keyword(isText, (value, node, name) => {
    node.shape.description = visible(value, node, name);
  }),
  /**
   * Gemini's `responseJsonSchema` does not support `default`, and Vertex AI rejects it next to `anyOf` (Gemini CLI's
   * docs, "schema processing").
   */
  default: keyword(isPresent, (value, node, name) => {
    if (value === null) drop(node, name, "The default null says the same as no default.");
    else tell(node, name, `Default: ${quote(value)}.`);
  }),
  examples: keyword(isList, (value, node, name) => {
    if (value.length === 0) drop(node, name, "The keyword is empty.");
    else tell(node, name, `For example ${enumerate(value.slice(0, 3).map(quote))}.`);
  }),
  // `example` of OpenAPI 3.0 is allowed in `parameters`, but not in `parametersJsonSchema`.
  example: keyword(isPresent, (value, node, name) => tell(node, name, `For example ${quote(value)}.`)),
  deprecated: flagSentence("Deprecated."),
  readOnly: flagSentence("Set by the server only."),
  writeOnly: flagSentence("The value is never shown after it is set."),
  // `nullable` of OpenAPI 3.0 becomes an alternative with the type null.
  nullable: keyword(isFlag, (value, node, name) => {
    if (value) node.shape.isNullable = true;
    report(
      node,
      name,
      value ? "rewritten" : "removed",
      value ? "The type null replaces nullable." : "The keyword has its default value.",
    );
  }),
  /*
   * `$schema` is removed at every depth, as Gemini CLI's documentation requires ("schema processing"). Users often
   * report the API's error: `Unknown name "$schema"`.
   */
  $schema: unneeded("The API accepts only one schema dialect."),
  $comment: forPeople,
  $vocabulary: forPeople,
  discriminator: unneeded("The alternatives already contain this information."),
  externalDocs: forPeople,
  xml: forPeople,
  $id: identifies,
  id: identifies,
  $anchor: identifies,
  $dynamicAnchor: identifies,
  $recursiveAnchor: identifies,
  // The Gemini API supports `propertyOrdering`, but the order of `properties` gives the same information.
  propertyOrdering: unneeded("The order of the properties already gives this information."),
};
