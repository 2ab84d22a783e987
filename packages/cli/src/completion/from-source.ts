/** Completes values from settings, the secret store, error codes, files and cached catalogs. */

import { transportWord } from "@fairlead/console/server/words/server-details";
import { errorCodes, exitCodeOf } from "@fairlead/core/errors";
import { demoName } from "@fairlead/core/host";
import { locate } from "@fairlead/core/settings";
import type { AdmittedServer } from "@fairlead/core/trust";
import { configurationOptions } from "../shell/configuration.ts";
import {
  type CompletionAnswer,
  type CompletionWord,
  type Suggestion,
  suggestFiles,
  toWords,
  withoutDashes,
} from "./answer.ts";
import { type CompletionContext, completionContextOf, configurationAt } from "./completion-context.ts";
import type { ValueSource } from "./known-command.ts";
import type { Cursor } from "./typed-words.ts";

/** Suggests values from one source. Drops values that start with `-` where options are possible. */
export async function fromSource(source: ValueSource, at: Cursor): Promise<CompletionAnswer> {
  const answer = await answerFrom(source, at, completionContextOf(at.typed, at.io));
  return at.typed.takesOptions ? withoutDashes(answer) : answer;
}

async function answerFrom(source: ValueSource, at: Cursor, context: CompletionContext): Promise<CompletionAnswer> {
  switch (source) {
    case "files":
    case "folders":
      return { kind: source, prefix: "" };
    case "bundles":
      return bundles(at);
    case "entries":
      return toWords((await configurationAt(context)).servers.map(toSuggestion));
    case "servers":
      return toWords(await servers(context));
    case "secrets":
      return toWords((await secretNames(context)).map((value) => ({ value })));
    case "errors":
      return toWords(errorCodes.map((value) => ({ value, about: `exit code ${exitCodeOf(value)}` })));
    case "conversations":
      return toWords(await conversations(context));
    case "call":
    case "tools":
    case "resources":
    case "skills":
    case "variables":
    case "prompts":
    case "prompt-arguments":
      // The import is inside the function, because the code that reads cached catalogs is slow to load.
      return (await import("./from-servers.ts")).fromServers(source, at, context);
  }
}

/** Files that end like a bundle, and the folders on the way to them. A path from home is left to the shell. */
async function bundles({ current, io }: Cursor): Promise<CompletionAnswer> {
  const files: CompletionAnswer = { kind: "files", prefix: "" };
  if (current.startsWith("~")) return files;
  const suggested = await suggestFiles(files, current, io);
  if (suggested.kind !== "words") return suggested;
  // Without a typed letter, a folder would stand in the way: the word is usually a name.
  const isWanted = ({ value, isOpen }: CompletionWord): boolean =>
    isOpen ? current !== "" : /\.(?:mcpb|dxt)$/i.test(value);
  return { kind: "words", candidates: suggested.candidates.filter(isWanted) };
}

async function servers(context: CompletionContext): Promise<readonly Suggestion[]> {
  const configuration = await configurationAt(context);
  const isDemoThere = configuration.servers.every(({ server }) => server.name !== demoName);
  return [...configuration.servers.map(toSuggestion), ...(isDemoThere ? [{ value: demoName, about: "built in" }] : [])];
}

function toSuggestion({ server, admission }: AdmittedServer): Suggestion {
  const { name, kind, definition } = server;
  const status = admission.status === "admitted" ? "" : `${admission.status}: `;
  return { value: name, about: `${status}${definition?.description ?? transportWord(kind)}` };
}

const mostConversations = 20;

async function conversations(context: CompletionContext): Promise<readonly Suggestion[]> {
  const { state } = await locate(configurationOptions(context));
  const [{ listConversations }, { conversationsFolder }] = await Promise.all([
    import("@fairlead/core/conversations/list-conversations"),
    import("@fairlead/core/conversations/conversation-file"),
  ]);
  const found = await listConversations(conversationsFolder(state), { limit: mostConversations });
  return found.map(({ id, title, firstWords }) => ({ value: id, about: title ?? firstWords }));
}

async function secretNames(context: CompletionContext): Promise<readonly string[]> {
  const { state } = await locate(configurationOptions(context));
  const { env, platform } = context.io;
  const { openSecretStore } = await import("@fairlead/core/files/secrets/secret-store");
  const store = await openSecretStore({ directory: state, env, platform });
  return store.list();
}
