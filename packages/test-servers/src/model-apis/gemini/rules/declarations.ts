/** Rules for the functions that the model may call, except rules for their schemas. */

import { invalidArgument } from "../errors.ts";
import { declarationsIn } from "../request.ts";
import { declarationAt, eachDeclaration, firstOf, inProto, type Rule } from "./rule.ts";

/**
 * The rule for names comes from `FunctionDeclaration.name` in the typings of @google/genai. The text of the error comes
 * from ccs #25, where the model still allowed only 64 characters.
 */
const name = eachDeclaration(({ name: given = "" }, index) => {
  if (/^[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}$/.test(given)) return [];
  const words =
    "Invalid function name. Must start with a letter or an underscore. Must be a-z, A-Z, 0-9, or contain underscores (_), dots (.), colons (:), or dashes (-), with a maximum length of 128.";
  return [`${declarationAt(index)}.name: [FIELD_INVALID] ${words}`];
}, inProto);

/** google-gemini/gemini-cli #19083. */
const count: Rule = ({ body, settings: { maxDeclarations } }) =>
  declarationsIn(body).length > maxDeclarations
    ? invalidArgument(
        inProto([
          `tools[0].function_declarations: [FIELD_INVALID] At most ${maxDeclarations} function declarations can be specified.`,
        ]),
      )
    : undefined;

/** googleapis/dotnet-genai #189. */
const duplicate: Rule = ({ body }) => {
  const names = declarationsIn(body).map((declaration) => declaration.name ?? "");
  const twice = names.find((each, index) => names.indexOf(each) !== index);
  return twice === undefined ? undefined : invalidArgument(`Duplicate function declaration found: ${twice}`);
};

/**
 * The two schema members are "mutually exclusive" (`FunctionDeclaration.parametersJsonSchema` in the typings of
 * @google/genai). The real text of the error is not known.
 */
const oneForm = eachDeclaration(
  ({ parameters, parametersJsonSchema }, index) =>
    parameters && parametersJsonSchema
      ? [`${declarationAt(index)}: [FIELD_INVALID] parameters and parameters_json_schema are mutually exclusive.`]
      : [],
  inProto,
);

/** musistudio/claude-code-router #1207. */
const needless: Rule = ({ body }) =>
  body.toolConfig?.["functionCallingConfig"] && declarationsIn(body).length === 0
    ? invalidArgument("Function calling config is set without function_declarations.")
    : undefined;

/** The test's own. */
const refused = firstOf((declaration, index, { settings }) => {
  const words = settings.refuses(declaration);
  return words === undefined ? [] : [words.replaceAll("{index}", String(index))];
});

export const declarationRules: readonly Rule[] = [needless, name, count, duplicate, oneForm, refused];
