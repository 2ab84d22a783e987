/** The resources and resource templates of a server as text: URIs, variables, titles, types and sizes. */

import type { HostResource } from "@fairlead/core/host";
import { fold } from "@fairlead/core/normalise/schema/write/type-text";
import { joinSafe, type SafeText, safe, toSafeLine, toVisibleLine } from "@fairlead/core/text/safe-text";
import { sizeWords } from "@fairlead/core/text/size-words";
import { clip } from "@fairlead/wire/text";
import { variablesOf } from "../../arguments/template-values.ts";
import { count, type Style } from "../output.ts";
import { fill } from "../wrap.ts";
import { descriptionLines } from "./description.ts";

interface ListOptions {
  readonly style: Style;
  readonly columns: number;
}

const longestUri = 2000;
const longestFact = 200;
const mostVariables = 20;

export function resourcesText(server: string, resources: readonly HostResource[], options: ListOptions): SafeText {
  const templates = resources.filter(({ kind }) => kind === "template").length;
  const listed = resources.length - templates;
  const counts = [
    ...(listed > 0 || templates === 0 ? [count(listed, "resource")] : []),
    ...(templates > 0 ? [count(templates, "template")] : []),
  ];
  const title = safe`${options.style.bold(toVisibleLine(server))}: ${joinSafe(counts, safe`, `)}`;
  return joinSafe([title, ...resources.map((resource) => resourceText(resource, options))], safe`\n\n`);
}

function resourceText(resource: HostResource, { style, columns }: ListOptions): SafeText {
  const uri = resource.kind === "resource" ? resource.uri : resource.uriTemplate;
  const facts = factsOf(resource);
  const pieces = [
    style.cyan(toVisibleLine(clip(uri, longestUri))),
    ...(resource.kind === "template" ? valueWords(resource.uriTemplate) : []),
    ...(facts.length > 0 ? [safe`(${joinSafe(facts, safe`, `)})`] : []),
  ];
  const talk = descriptionLines(resource.description ?? "", { columns, all: false });
  return joinSafe([
    ...fill(pieces, { columns, indent: safe`  `, hanging: safe`    ` }),
    ...talk.map((line) => style.dim(line)),
  ]);
}

/** The `--arg` options of a template; optional ones in brackets. */
function valueWords(uriTemplate: string): readonly SafeText[] {
  return fold(variablesOf(uriTemplate), mostVariables, ({ name, required }) => {
    const option = `--arg ${name}=…`;
    return required ? option : `[${option}]`;
  }).map(toVisibleLine);
}

function factsOf(resource: HostResource): readonly SafeText[] {
  const { name, title = name, mimeType } = resource;
  const size = resource.kind === "resource" ? resource.size : undefined;
  const facts = [title, mimeType, size === undefined ? undefined : sizeWords(size)];
  return facts.flatMap((fact) => (fact === undefined || fact === "" ? [] : [toSafeLine(clip(fact, longestFact))]));
}
