/** Suggests resources and resource templates while the user types an `@` mention. */

import type { HostResource } from "@fairlead/core/host";
import { encodeUri, encodeValue, parseTemplate, type TemplatePiece } from "@fairlead/core/plain-text";
import { type CompletionRequest, writeMention, writeReference } from "@fairlead/core/request";
import { type CompletionItem, rank } from "./completion.ts";

const mostMentions = 30;
type Template = Extract<HostResource, { readonly kind: "template" }>;

/** Returns the resources and templates that match the typed text, best first, at most 30. */
export function offerMentions(typed: string, resources: readonly HostResource[]): readonly CompletionItem[] {
  const textOf = (resource: HostResource): string => `${addressOf(resource)} ${resource.title ?? resource.name}`;
  return rank(resources, typed, textOf, mostMentions).flatMap((resource) => {
    const { server, title, name } = resource;
    const about = title ?? name;
    if (resource.kind === "resource") return { value: writeReference(server, resource.uri), about };
    const start = beginningOf(resource);
    // The user has typed the text before the first variable. Only the server can suggest what follows.
    if (start === undefined || addressesOf(server, start).some((address) => typed.startsWith(address))) return [];
    return { value: `@${server}:${start}`, label: `@${addressOf(resource)}`, about, isOpen: true };
  });
}

/** A completion request for a template's variable. `write` turns each value of the reply into a suggestion. */
export interface TemplateQuestion {
  readonly request: CompletionRequest;
  readonly write: (value: string) => CompletionItem;
}

/** Returns the completion requests to send, one for each template that fits the typed text so far. */
export function templateQuestions(typed: string, resources: readonly HostResource[]): readonly TemplateQuestion[] {
  return resources.flatMap((resource) => (resource.kind === "template" ? (questionAbout(typed, resource) ?? []) : []));
}

function questionAbout(typed: string, template: Template): TemplateQuestion | undefined {
  const { server, uriTemplate } = template;
  const parsed = parseTemplate(uriTemplate);
  const start = beginningOf(template);
  const head = start && addressesOf(server, start).find((address) => typed.startsWith(address));
  if (parsed.kind === "malformed" || head === undefined) return undefined;
  const given = new Map<string, string>();
  let done = head;
  for (let at = 1; at < parsed.pieces.length; at += 2) {
    const variable = variableOf(parsed.pieces[at]);
    const ending = literalOf(parsed.pieces[at + 1]);
    if (variable === undefined) return undefined;
    const rest = typed.slice(done.length);
    const end = ending === "" ? -1 : rest.indexOf(ending);
    if (end === -1) {
      const isLast = at + 2 >= parsed.pieces.length;
      return {
        request: {
          of: { kind: "template", server, uriTemplate },
          name: variable.name,
          value: decoded(rest),
          given: given.size > 0 ? Object.fromEntries(given) : undefined,
        },
        write: (value) => ({
          value: writeMention(`${done}${variable.encode(value)}${ending}`),
          label: value,
          about: `${variable.name} of ${uriTemplate}`,
          isOpen: !isLast,
        }),
      };
    }
    given.set(variable.name, decoded(rest.slice(0, end)));
    done = `${done}${rest.slice(0, end)}${ending}`;
  }
  return undefined;
}

/** Returns the text before the template's first variable, or undefined if the template begins with a variable. */
function beginningOf({ uriTemplate }: Template): string | undefined {
  const parsed = parseTemplate(uriTemplate);
  const start = parsed.kind === "template" ? literalOf(parsed.pieces[0]) : "";
  return start === "" ? undefined : start;
}

interface PlainVariable {
  readonly name: string;
  readonly encode: (value: string) => string;
}

/**
 * Returns the variable of `{name}` or `{+name}`. Returns undefined for other expressions, because they cannot be
 * completed.
 */
function variableOf(piece: TemplatePiece | undefined): PlainVariable | undefined {
  if (piece?.kind !== "expression" || (piece.operator !== "" && piece.operator !== "+")) return undefined;
  const [only, ...others] = piece.variables;
  if (only === undefined || others.length > 0) return undefined;
  return { name: only.name, encode: piece.operator === "+" ? encodeUri : encodeValue };
}

function literalOf(piece: TemplatePiece | undefined): string {
  return piece?.kind === "literal" ? piece.text : "";
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // The user has typed only a part of a percent escape such as `%2F`.
    return text;
  }
}

function addressOf(resource: HostResource): string {
  return `${resource.server}:${resource.kind === "resource" ? resource.uri : resource.uriTemplate}`;
}

/** Users may write a resource with or without its server. */
function addressesOf(server: string, uri: string): readonly string[] {
  return [`${server}:${uri}`, uri];
}
