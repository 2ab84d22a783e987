/** `mcp add example.com`: reads the domain's catalog and server cards, lets the user choose, and adds the server. */

import { HostError } from "@fairlead/core/errors";
import { type SafeText, safe, toVisibleLine } from "@fairlead/core/text/safe-text";
import { findCards, type ServerCard } from "@fairlead/registry/cards/find-cards";
import { choicesOf, planEntry, questionsOf, type ServerChoice } from "@fairlead/registry/registry/launch";
import { legacyVersions } from "@fairlead/wire/serve";
import { configurationOf } from "../../../shell/configuration.ts";
import { askLineOrEnd, canAsk, confirm } from "../../../shell/prompt.ts";
import type { Context } from "../../../shell/verb.ts";
import { askInputs, readInputs } from "../registry/ask-inputs.ts";
import { secretNames, storeInputSecrets } from "../registry/input-secrets.ts";
import { type AddChoices, addServers } from "./add-servers.ts";
import { newServerName } from "./destination.ts";

/** The options of `mcp add` that concern a domain. */
export interface DomainOptions extends AddChoices {
  readonly name?: string | undefined;
  readonly input?: readonly string[] | undefined;
  readonly yes?: boolean | undefined;
}

interface Candidate {
  readonly card: ServerCard;
  readonly choice: ServerChoice;
}

/**
 * Adds a server of a domain.
 *
 * @throws HostError `usage` in a script if the domain has several servers; `not_found` if it has none
 */
export async function addFromDomain(
  origin: string,
  { name: wanted, input = [], yes = false, ...choices }: DomainOptions,
  context: Context,
): Promise<void> {
  const { io, out, globals } = context;
  const found = await findCards(origin, io);
  for (const { from, why } of found.refused)
    out.warn(safe`note: the card ${toVisibleLine(from)} is not used: ${toVisibleLine(why)}`);
  if (found.unread > 0) out.warn(safe`note: ${found.unread} more cards of the catalog were not read`);
  const candidates = found.cards.flatMap((card) =>
    choicesOf(card.server).flatMap((choice): Candidate[] =>
      choice.remote === undefined || choice.unusable !== undefined ? [] : [{ card, choice }],
    ),
  );
  if (candidates.length === 0)
    throw new HostError("not_found", `no server of ${origin} can be added: none has an address that Fairlead can use`);
  const { card, choice } = await choose(candidates, origin, yes, context);
  const configuration = await configurationOf(context);
  const ownName = card.server.name.slice(card.server.name.lastIndexOf("/") + 1);
  const name = newServerName(wanted ?? ownName, choices, configuration);
  // Before the questions: the answers, secrets among them, go to this address.
  if (!globals.json) {
    const { server, from } = card;
    out.show(safe`${out.style.bold(toVisibleLine(server.title ?? server.name))} ${toVisibleLine(server.version)}`);
    if (server.description !== "") out.show(safe`  ${toVisibleLine(server.description.slice(0, 300))}`);
    out.show(safe`  address  ${toVisibleLine(choice.label)}`);
    out.show(safe`  card     ${toVisibleLine(from)} (written by the owner of this address, checked by no registry)`);
  }
  const questions = questionsOf(choice);
  const answers = await askInputs(questions, readInputs(input, questions, io), context);
  const planned = planEntry(choice, answers, await secretNames(name, configuration));
  if (!yes) {
    if (!canAsk(io) || globals.json)
      throw new HostError("usage", `"${name}" (${choice.label}) needs a yes, and there is no terminal to ask on`, {
        next: "add --yes",
      });
    if (!(await confirm(io, safe`Add "${toVisibleLine(name)}"?`))) throw new HostError("denied", "nothing was changed");
  }
  await storeInputSecrets(planned.secrets, configuration, context);
  const server = { name, entry: planned.entry, ...(isLegacyOnly(card) && { era: "legacy" as const }) };
  await addServers([server], choices, context);
}

function isLegacyOnly({ protocolVersions }: ServerCard): boolean {
  return protocolVersions.length > 0 && protocolVersions.every((version) => legacyVersions.includes(version));
}

async function choose(
  candidates: readonly Candidate[],
  origin: string,
  yes: boolean,
  { io, out, globals }: Context,
): Promise<Candidate> {
  const [only] = candidates;
  if (candidates.length === 1 && only !== undefined) return only;
  if (yes || !canAsk(io) || globals.json) {
    const names = candidates.map(({ card, choice }) => `${card.server.name} (${choice.label})`).join(", ");
    throw new HostError("usage", `${origin} has ${candidates.length} servers: ${names}`, {
      next: "fairlead mcp add NAME ADDRESS",
    });
  }
  out.show(safe`${toVisibleLine(origin)} has ${candidates.length} servers:`);
  for (const [at, candidate] of candidates.entries()) out.show(safe`  ${at + 1}. ${line(candidate)}`);
  for (;;) {
    const answer = await askLineOrEnd(io, safe`Which one? [1-${candidates.length}] `);
    if (answer === undefined) throw new HostError("cancelled", "cancelled; nothing was changed");
    const chosen = /^\d{1,4}$/.test(answer.trim()) ? candidates[Number(answer) - 1] : undefined;
    if (chosen !== undefined) return chosen;
  }
}

function line({ card: { server }, choice }: Candidate): SafeText {
  return safe`${toVisibleLine(server.title ?? server.name)}: ${toVisibleLine(server.description.slice(0, 100))} (${toVisibleLine(choice.label)})`;
}
