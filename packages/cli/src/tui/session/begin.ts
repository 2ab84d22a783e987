/** The start of the app: chooses the model, shows the welcome text and asks about an untrusted workspace. */

import { demoName } from "@fairlead/core/host";
import { TrustLevel } from "@fairlead/core/trust/trusted-folders";
import { hasDemo } from "../../targets/with-host.ts";
import type { Services } from "../services.ts";
import { welcomeText } from "../welcome.ts";
import { askTrust, hasWaiting, reviewHere } from "./trust.ts";

/** Chooses the model and shows the welcome text. `wanted`: the value of `--model`. */
export async function chooseAtStart(
  { session, models, settings }: Services,
  wanted: string | undefined,
): Promise<void> {
  const choice = wanted === models.manual.name ? undefined : await models.find(wanted);
  if (choice?.kind === "model") session.setModel(choice.model);
  const configuration = settings.get();
  if (hasDemo(configuration)) await session.host.start({ servers: [demoName] });
  const tools = session.host.tools(demoName);
  session.show("Fairlead", welcomeText({ configuration, tools, choice, wanted }));
}

/** Asks about trust, unless a rule says that the folder is not trusted. */
export async function askAtStart(services: Services): Promise<void> {
  if (!hasWaiting(services.settings.get())) return;
  const found = await reviewHere(services);
  if (found.pending.length > 0 && found.rule !== TrustLevel.DO_NOT_TRUST) await askTrust(found, services);
}
