/**
 * The commands of the page: `POST /api/VERB` with JSON parameters, and the header `idempotency-key`, so that a repeated
 * request runs nothing twice. A command answers soon: what takes time begins, and the stream reports it.
 */

import type { AddingCommands } from "./adding.ts";
import type { BudgetCommands } from "./budget.ts";
import type { CallCommands } from "./calls.ts";
import type { ChangesCommands } from "./changes.ts";
import type { ChatCommands } from "./chat.ts";
import type { ConversationCommands } from "./conversations.ts";
import type { HistoryCommands } from "./history.ts";
import type { PolicyCommands } from "./policy.ts";
import type { QuestionCommands } from "./questions.ts";
import type { ServerCommands } from "./servers.ts";
import type { SkillCommands } from "./skills.ts";
import type { ToolCommands } from "./tools.ts";
import type { TrafficCommands } from "./traffic.ts";
import type { ViewCommands } from "./views.ts";

/** Each verb with its parameters and its answer. A view's verbs are in the file of its subject. */
export interface Commands
  extends AddingCommands,
    BudgetCommands,
    CallCommands,
    ChangesCommands,
    ChatCommands,
    ConversationCommands,
    HistoryCommands,
    PolicyCommands,
    QuestionCommands,
    ServerCommands,
    SkillCommands,
    ToolCommands,
    TrafficCommands,
    ViewCommands {}

export type Verb = keyof Commands;
export type Params<V extends Verb> = Commands[V]["params"];
export type Result<V extends Verb> = Commands[V]["result"];

/** The answer to a command that has failed, with status 400 (wrong parameters) or 422. */
export interface CommandFailure {
  readonly error: { readonly code: string; readonly message: string; readonly next?: string | undefined };
}
