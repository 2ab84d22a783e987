/*
 * The tools of the servers in the pictures of the console: short, but as real servers write them. `answer` gives the
 * content of a call's result from its arguments.
 */
import { chartOf } from "./chart.mjs";

const text = (description, more = {}) => ({ type: "string", description, ...more });
const number = (description, more = {}) => ({ type: "integer", description, ...more });
const list = (items, more = {}) => ({ type: "array", items, ...more });
const object = (properties, ...required) => ({ type: "object", properties, required });
const readOnly = { readOnlyHint: true };
const destructive = { destructiveHint: true };
const says = (words) => () => ({ content: [{ type: "text", text: words }] });

/** Milliseconds, one value every five minutes. */
const latencies = [182, 178, 191, 185, 180, 188, 196, 184, 201, 240, 318, 377, 402, 396, 411, 405, 398, 412];

const issues = [
  { id: "ENG-412", title: "Export times out for large workspaces", state: "In progress", assignee: "mira" },
  { id: "ENG-409", title: "Retry uploads that a proxy has cut", state: "Todo", assignee: null },
  { id: "ENG-398", title: "Dark mode: chart labels are unreadable", state: "In review", assignee: "tom" },
];

const pods = [
  { name: "api-7c9f4d-2xk8p", ready: "2/2", status: "Running", restarts: 0, age: "6d" },
  { name: "api-7c9f4d-9wq2m", ready: "2/2", status: "Running", restarts: 0, age: "6d" },
  { name: "worker-5b8c6f-hh7zt", ready: "0/1", status: "CrashLoopBackOff", restarts: 14, age: "2h" },
];

const issueTools = [
  {
    name: "list_issues",
    description: "Lists issues of a team, newest first. Filters by state, assignee and label.",
    inputSchema: object({
      team: text("The key of the team, such as ENG"),
      state: text("Only issues in this state", { enum: ["Todo", "In progress", "In review", "Done"] }),
      limit: number("How many issues", { default: 20, minimum: 1, maximum: 100 }),
    }),
    outputSchema: object({ issues: { type: "array", items: { type: "object" } } }, "issues"),
    annotations: readOnly,
    answer: () => ({
      content: [{ type: "text", text: issues.map(({ id, title, state }) => `${id}  ${title}  (${state})`).join("\n") }],
      structuredContent: { issues },
    }),
  },
  {
    name: "get_issue",
    description: "Returns one issue with its description, comments and links.",
    inputSchema: object({ id: text("The id of the issue, such as ENG-412") }, "id"),
    annotations: readOnly,
    answer: ({ id }) => ({
      content: [
        { type: "text", text: `# ${id}: Export times out for large workspaces\n\nIn progress since Monday, **mira**.` },
      ],
    }),
  },
  {
    name: "create_issue",
    description: "Creates an issue in a team.",
    inputSchema: object(
      {
        team: text("The key of the team, such as ENG"),
        title: text("The title, at most 200 characters", { maxLength: 200 }),
        description: text("The description in Markdown"),
        priority: text("The priority", { enum: ["urgent", "high", "normal", "low"], default: "normal" }),
        labels: { type: "array", description: "Names of labels", items: { type: "string" } },
        estimate: number("Points", { minimum: 0, maximum: 21 }),
      },
      "team",
      "title",
    ),
    answer: ({ title }) => ({ content: [{ type: "text", text: `Created ENG-413: ${title}` }] }),
  },
  {
    name: "close_issue",
    description: "Closes an issue with a comment.",
    inputSchema: object({ id: text("The id of the issue"), comment: text("Why it is closed") }, "id"),
    annotations: destructive,
    answer: ({ id }) => ({ content: [{ type: "text", text: `${id} is closed` }] }),
  },
];

/** @type {Readonly<Record<string, {readonly tools: readonly any[], readonly prompts?: readonly any[], readonly resources?: readonly any[], readonly resourceTemplates?: readonly any[], readonly instructions?: string}>>} */
export const catalogs = {
  linear: {
    instructions: "Use list_issues before create_issue, so that no issue is created twice.",
    tools: issueTools,
    prompts: [
      {
        name: "triage",
        description: "Sorts the new issues of a team by impact.",
        arguments: [{ name: "team", description: "The key of the team", required: true }],
      },
    ],
  },
  jira: { tools: issueTools },
  sentry: {
    tools: [
      {
        name: "search_errors",
        description: "Finds error groups by message, release and time.",
        inputSchema: object(
          { query: text("Words of the message"), release: text("A release, such as 4.12.0") },
          "query",
        ),
        annotations: readOnly,
        answer: says("12 events: TypeError: cannot read properties of undefined (reading 'id')"),
      },
      {
        name: "resolve_error",
        description: "Marks an error group as resolved.",
        inputSchema: object({ group: text("The id of the error group") }, "group"),
        answer: says("resolved"),
      },
      {
        name: "list_releases",
        description: "Lists releases of a project with their number of new errors.",
        inputSchema: object({ project: text("The project") }, "project"),
        annotations: readOnly,
        answer: says("4.12.0  3 new\n4.11.2  0 new"),
      },
    ],
  },
  kubernetes: {
    tools: [
      {
        name: "list_pods",
        description: "Lists the pods of a namespace with their state and restarts.",
        inputSchema: object({ namespace: text("The namespace", { default: "default" }) }),
        outputSchema: object({ pods: { type: "array", items: { type: "object" } } }, "pods"),
        annotations: readOnly,
        answer: () => ({
          content: [{ type: "text", text: pods.map((pod) => Object.values(pod).join("  ")).join("\n") }],
          structuredContent: { pods },
        }),
      },
      {
        name: "pod_logs",
        description: "Returns the last lines of a pod's log.",
        inputSchema: object({ pod: text("The pod's name"), lines: number("How many lines", { default: 100 }) }, "pod"),
        annotations: readOnly,
        answer: says('level=error msg="no route to queue" attempt=14'),
      },
      {
        name: "delete_pod",
        description: "Deletes a pod. Its controller starts a new one.",
        inputSchema: object({ pod: text("The pod's name"), namespace: text("The namespace") }, "pod"),
        annotations: destructive,
        answer: ({ pod }) => ({ content: [{ type: "text", text: `pod "${pod}" deleted` }] }),
      },
      {
        name: "apply_manifest",
        description: "Applies a manifest, as `kubectl apply` does.",
        inputSchema: object(
          { manifest: text("The manifest as YAML"), dryRun: { type: "boolean", default: true } },
          "manifest",
        ),
        annotations: destructive,
        answer: says("deployment.apps/api unchanged"),
      },
    ],
  },
  grafana: {
    tools: [
      {
        name: "query_metrics",
        description: "Runs a PromQL query over a time range.",
        inputSchema: object(
          { query: text("The query in PromQL"), range: text("Such as 1h", { default: "1h" }) },
          "query",
        ),
        annotations: readOnly,
        answer: says("p99 of api: 412 ms (1 h ago: 180 ms)"),
      },
      {
        name: "list_dashboards",
        description: "Lists dashboards with their folders.",
        inputSchema: object({ folder: text("The folder") }),
        annotations: readOnly,
        answer: says("API overview\nQueues\nDatabase"),
      },
      {
        name: "silence_alert",
        description: "Silences an alert for some time.",
        inputSchema: object({ alert: text("The alert"), minutes: number("How long") }, "alert", "minutes"),
        answer: says("silenced"),
      },
      {
        name: "render_panel",
        description: "Draws a panel of a dashboard as an image, with the values of its series.",
        inputSchema: object({ panel: text("The panel"), range: text("Such as 1h", { default: "1h" }) }, "panel"),
        outputSchema: object({ panel: text("The panel"), unit: text("The unit"), points: list({ type: "number" }) }),
        annotations: readOnly,
        answer: ({ panel = "" }) => ({
          content: [
            { type: "text", text: `${panel}: the 99th percentile has more than doubled since 14:20.` },
            { type: "image", data: chartOf(latencies).toString("base64"), mimeType: "image/png" },
            {
              type: "resource_link",
              uri: "grafana://dashboards/api",
              name: "API overview",
              mimeType: "application/json",
            },
          ],
          structuredContent: { panel, unit: "ms", points: latencies },
        }),
      },
      {
        name: "explore_panel",
        description: "Shows a panel whose range can be changed.",
        inputSchema: object({ panel: text("The panel") }, "panel"),
        annotations: readOnly,
        _meta: { ui: { resourceUri: "ui://grafana/panel.html" } },
        answer: ({ panel = "" }) => ({
          content: [{ type: "text", text: `${panel}: ${latencies.at(-1)} ms` }],
          structuredContent: { panel, unit: "ms", points: latencies },
        }),
      },
      {
        name: "create_alert",
        description: "Creates an alert: conditions over queries, and the people that it tells.",
        inputSchema: object(
          {
            title: text("The title of the alert"),
            severity: text("How urgent it is", { enum: ["critical", "warning", "info"], default: "warning" }),
            conditions: list(
              object(
                {
                  query: text("The query in PromQL"),
                  above: { type: "number", description: "The alert fires above this value" },
                  minutes: number("For how long", { default: 5, minimum: 1 }),
                },
                "query",
                "above",
              ),
              { description: "All of them must hold", minItems: 1 },
            ),
            notify: {
              description: "Who is told",
              oneOf: [
                {
                  title: "A channel",
                  ...object({ kind: { const: "channel" }, channel: text("Such as #on-call") }, "kind", "channel"),
                },
                {
                  title: "A person",
                  ...object(
                    { kind: { const: "person" }, mail: text("The address", { format: "email" }) },
                    "kind",
                    "mail",
                  ),
                },
              ],
            },
            labels: { type: "object", description: "Labels of the alert", additionalProperties: { type: "string" } },
            isPaused: { type: "boolean", description: "Create it without starting it" },
          },
          "title",
          "conditions",
          "notify",
        ),
        answer: ({ title }) => ({ content: [{ type: "text", text: `Created the alert "${title}"` }] }),
      },
    ],
    resources: [
      { uri: "grafana://dashboards/api", name: "API overview", mimeType: "application/json" },
      { uri: "grafana://dashboards/queues", name: "Queues", mimeType: "application/json" },
    ],
    resourceTemplates: [
      { uriTemplate: "grafana://dashboards/{name}", name: "One dashboard", mimeType: "application/json" },
    ],
  },
  mail: {
    tools: [
      {
        name: "search_mail",
        description: "Finds messages by sender, subject and words.",
        inputSchema: object({ query: text("Words, or from:NAME") }, "query"),
        annotations: readOnly,
        answer: says("3 messages"),
      },
      {
        name: "send_mail",
        description: "Sends a message.",
        inputSchema: object(
          { to: text("The address"), subject: text("The subject"), body: text("The text") },
          "to",
          "subject",
          "body",
        ),
        annotations: destructive,
        answer: says("sent"),
      },
    ],
    prompts: [
      {
        name: "reply",
        description: "Drafts a reply in the person's tone.",
        arguments: [{ name: "message", description: "The id of the message", required: true }],
      },
    ],
  },
  calendar: {
    tools: [
      {
        name: "list_events",
        description: "Lists events between two times.",
        inputSchema: object({ from: text("Begin, ISO 8601"), to: text("End, ISO 8601") }, "from", "to"),
        annotations: readOnly,
        answer: says("10:00 planning\n14:30 interview"),
      },
      {
        name: "create_event",
        description: "Creates an event and invites people.",
        inputSchema: object({ title: text("The title"), at: text("Begin, ISO 8601") }, "title", "at"),
        answer: says("created"),
      },
    ],
  },
  notion: {
    tools: [
      {
        name: "search_pages",
        description: "Searches pages and databases by their text.",
        inputSchema: object({ query: text("Words") }, "query"),
        annotations: readOnly,
        answer: says("Runbook: queues\nOn-call handbook"),
      },
      {
        name: "append_block",
        description: "Appends a block to a page.",
        inputSchema: object(
          { page: text("The id of the page"), markdown: text("The block in Markdown") },
          "page",
          "markdown",
        ),
        answer: says("appended"),
      },
    ],
    resourceTemplates: [{ uriTemplate: "notion://pages/{id}", name: "A page", mimeType: "text/markdown" }],
  },
  weather: {
    tools: [
      {
        name: "forecast",
        description: "Returns the forecast of a place for up to ten days.",
        inputSchema: object(
          { place: text("A town"), days: number("Days", { default: 3, minimum: 1, maximum: 10 }) },
          "place",
        ),
        annotations: readOnly,
        answer: says("Mon 9 °C rain\nTue 11 °C clear"),
      },
    ],
  },
  db: { tools: [] },
};

/** What the server `sentry` lists after its update: two tools have another definition than before. */
export const changedSentry = catalogs.sentry.tools.map((tool) => {
  if (tool.name === "resolve_error")
    return {
      ...tool,
      description: "Marks an error group as resolved. Also deletes its events if `purge` is true.",
      inputSchema: object(
        { group: text("The id of the error group"), purge: { type: "boolean", description: "Deletes the events" } },
        "group",
      ),
      annotations: destructive,
    };
  if (tool.name === "search_errors")
    return { ...tool, description: "Finds error groups by message, release, user and time." };
  return tool;
});
