/** The views of the page. A view has a name in addresses, a place in the navigation, and a file that is loaded when it is opened. */

import type { ComponentType } from "preact";
import type { ServerRow } from "../protocol/rows.ts";
import type { IconName } from "./components/icon.tsx";
import type { ViewAddress } from "./router.ts";
import type { Store } from "./store.ts";
import { InboxView } from "./views/inbox/inbox-view.tsx";
import { NowView } from "./views/now/now-view.tsx";
import { ServersView } from "./views/servers/servers-view.tsx";

export interface ViewEntry {
  /** The first part of the view's addresses. */
  readonly id: string;
  readonly title: string;
  readonly icon: IconName;
  /** Views of one group stand together in the navigation. */
  readonly group: "attention" | "servers" | "records" | "rules";
  /** What a person would look for to find this view. */
  readonly words: string;
  readonly load: () => ComponentType<ViewAddress> | Promise<ComponentType<ViewAddress>>;
  /** The number beside the title. Undefined: not known, or none. */
  readonly count?: (store: Store) => number | undefined;
  /** Whether the number says that something waits for the person. */
  readonly isUrgent?: boolean;
}

/** All views in the order of the navigation. The first one is shown where the address names none. */
export const views: readonly [ViewEntry, ...ViewEntry[]] = [
  {
    id: "now",
    title: "Now",
    icon: "now",
    group: "attention",
    words: "overview, problems, last calls",
    load: () => NowView,
  },
  {
    id: "inbox",
    title: "Inbox",
    icon: "inbox",
    group: "attention",
    words: "questions, approvals, sign-in",
    load: () => InboxView,
    count: (store) => store.questions.ids.value.length || undefined,
    isUrgent: true,
  },
  {
    id: "servers",
    title: "Servers",
    icon: "servers",
    group: "servers",
    words: "state, log, restart, definition",
    load: () => ServersView,
    count: (store) => (store.about.value === undefined ? undefined : store.servers.ids.value.length),
  },
  {
    id: "add",
    title: "Add",
    icon: "add",
    group: "servers",
    words: "new server, registry, search, install, npm",
    load: async () => (await import("./views/add/add-view.tsx")).AddView,
  },
  {
    id: "tools",
    title: "Tools",
    icon: "tools",
    group: "servers",
    words: "call, form, search, schema, tokens",
    count: (store) => sumOf(store, ({ tools }) => tools),
    load: async () => (await import("./views/tools/tools-view.tsx")).ToolsView,
  },
  {
    id: "resources",
    title: "Resources",
    icon: "resources",
    group: "servers",
    words: "read, files, templates",
    count: (store) => sumOf(store, ({ resources, resourceTemplates }) => resources + resourceTemplates),
    load: async () => (await import("./views/resources/resources-view.tsx")).ResourcesView,
  },
  {
    id: "prompts",
    title: "Prompts",
    icon: "prompts",
    group: "servers",
    words: "templates, messages",
    count: (store) => sumOf(store, ({ prompts }) => prompts),
    load: async () => (await import("./views/prompts/prompts-view.tsx")).PromptsView,
  },
  {
    id: "skills",
    title: "Skills",
    icon: "skills",
    group: "servers",
    words: "instructions, files, digests",
    load: async () => (await import("./views/skills/skills-view.tsx")).SkillsView,
  },
  {
    id: "traffic",
    title: "Traffic",
    icon: "traffic",
    group: "records",
    words: "messages, JSON-RPC, requests, recording",
    load: async () => (await import("./views/traffic/traffic-view.tsx")).TrafficView,
  },
  {
    id: "history",
    title: "History",
    icon: "history",
    group: "records",
    words: "calls, rules, who answered, audit",
    load: async () => (await import("./views/history/history-view.tsx")).HistoryView,
  },
  {
    id: "conversations",
    title: "Conversations",
    icon: "conversations",
    group: "records",
    words: "chat, replay, model, turns",
    load: async () => (await import("./views/conversations/conversations-view.tsx")).ConversationsView,
  },
  {
    id: "policy",
    title: "Policy",
    icon: "policy",
    group: "rules",
    words: "rules, allow, deny, explain, approvals",
    load: async () => (await import("./views/policy/policy-view.tsx")).PolicyView,
  },
  {
    id: "changes",
    title: "Changes",
    icon: "changes",
    group: "rules",
    words: "definitions, lock file, difference",
    load: async () => (await import("./views/changes/changes-view.tsx")).ChangesView,
  },
  {
    id: "budget",
    title: "Budget",
    icon: "budget",
    group: "rules",
    words: "tokens, context",
    load: async () => (await import("./views/budget/budget-view.tsx")).BudgetView,
  },
];

/** Adds up what the known catalogs have. Undefined while none is known. */
function sumOf(store: Store, countIn: (counts: NonNullable<ServerRow["counts"]>) => number): number | undefined {
  // The tools of the demo server are offered to nothing but a typed call.
  const catalogs = store.servers
    .all()
    .flatMap(({ counts, transport }) => (transport === "built-in" ? [] : (counts ?? [])));
  return catalogs.length === 0 ? undefined : catalogs.reduce((sum, counts) => sum + countIn(counts), 0);
}

export function findView(id: string | undefined): ViewEntry | undefined {
  return views.find((view) => view.id === id);
}
