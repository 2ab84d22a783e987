/** Checks a result against the tool's `outputSchema`. The tool has run already, so mistakes are only warnings. */

import type { ToolResult } from "@fairlead/wire";
import { errorMessage } from "@fairlead/wire/text";
import type { CatalogTool } from "../discover/catalog.ts";
import { describeIssues } from "./describe-issues.ts";
import type { Validator } from "./validation/validator.ts";

/** Returns warnings. Never rejects. */
export async function checkOutput(
  { isError, structuredContent }: Pick<ToolResult, "isError" | "structuredContent">,
  { outputSchema }: Pick<CatalogTool, "outputSchema">,
  validator: Pick<Validator, "validate">,
): Promise<readonly string[]> {
  if (outputSchema === undefined || isError) return [];
  if (structuredContent === undefined)
    return ["the tool declares an outputSchema, but its result has no structured content"];
  try {
    const { issues, warnings } = await validator.validate(outputSchema, structuredContent);
    if (issues.length === 0) return warnings;
    const wrong = describeIssues(issues, { schema: outputSchema, value: structuredContent, whole: "it" });
    return [...warnings, `the result does not match the tool's outputSchema: ${wrong}`];
  } catch (error) {
    const why = errorMessage(error);
    return [`the result was not checked against the tool's outputSchema: ${why}`];
  }
}
