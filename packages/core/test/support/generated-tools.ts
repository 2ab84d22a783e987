/** Tools as servers write them, as many as a test wants: always the same ones. */

export interface GeneratedTool {
  readonly server: string;
  readonly name: string;
  readonly description: string;
  readonly inputSchema: object;
}

const verbs = ["get", "list", "create", "update", "delete", "search", "export", "sync", "validate", "merge"];
const nouns = ["issue", "invoice", "customer_record", "pull_request", "calendarEvent", "file", "report", "deployment"];
const types = ["string", "integer", "boolean", "number"];
const sentences = [
  "Returns the matching entries, newest first, with their identifiers.",
  "Use this only when the user has named an exact identifier; otherwise search first.",
  'Dates are in ISO 8601, for example "2026-01-31T08:30:00Z".',
  "Results are paginated: pass `cursor` of the last answer to get the next page.",
  "Requires the scope repo:write and fails with 403 if it is missing.",
];

const pick = <T>(list: readonly T[], at: number): T => list[at % list.length] as T;

/** `count` tools, spread over `servers` servers. */
export function generatedTools(count: number, servers: number): readonly GeneratedTool[] {
  return Array.from({ length: count }, (_, at) => {
    const noun = pick(nouns, Math.floor(at / verbs.length));
    const fields = Array.from({ length: 1 + (at % 7) }, (_none, field) => [
      `${pick(["id", "query", "page_size", "includeArchived", "since", "labels", "cursor"], field)}`,
      {
        type: pick(types, at + field),
        description: `${pick(sentences, at + field)} Concerns the ${noun}.`,
        ...(field % 3 === 2 && { enum: ["open", "closed", "all"] }),
      },
    ]);
    return {
      server: `server-${at % servers}`,
      name: `${pick(verbs, at)}_${noun}_${at}`,
      description: Array.from({ length: 1 + (at % 5) }, (_none, more) => pick(sentences, at + more)).join(" "),
      inputSchema: { type: "object", properties: Object.fromEntries(fields), required: ["id"] },
    };
  });
}
