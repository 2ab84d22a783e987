/** The console of a real host in Chromium: real servers, and a stand-in for a model's API. */

import { systemClock } from "@fairlead/core/clock";
import { HostError } from "@fairlead/core/errors";
import { chooseModel } from "@fairlead/core/model";
import { type Answering, type GeminiApi, geminiApi, type OpenaiApi, openaiApi } from "@fairlead/test-servers";
import type { BrowserContext, Page } from "playwright-core";
import { EventRing } from "../../../src/server/door/event-ring.ts";
import { PageListener } from "../../../src/server/door/page-listener.ts";
import { ViewFrames } from "../../../src/server/views/view-frames.ts";
import { type ConsoleScene, consoleScene, type SceneOptions } from "../../state/scene.ts";
import { builtPage } from "../../support/built-page.ts";

export interface RealConsole<A = GeminiApi> extends AsyncDisposable {
  readonly scene: ConsoleScene;
  readonly api: A;
  readonly page: Page;
  /** Opens another tab. */
  open(view?: string): Promise<Page>;
  /** What the browser has complained about. */
  readonly complaints: readonly string[];
}

/** @param answer The model's answers. Undefined: no model is configured. */
export async function openRealConsole(
  context: BrowserContext,
  answer: Answering | undefined,
  view: string,
  options: Partial<SceneOptions> = {},
): Promise<RealConsole> {
  const api = await geminiApi(answer === undefined ? {} : { answer });
  const env: Record<string, string> =
    answer === undefined ? {} : { GEMINI_API_KEY: "test-key", GOOGLE_GEMINI_BASE_URL: api.baseUrl };
  return openWith(api, env, context, view, options);
}

/** The same with a model behind an API as OpenAI's, which many programs for models of one's own have. */
export async function openOpenaiConsole(
  context: BrowserContext,
  answer: Answering,
  view: string,
  options: Partial<SceneOptions> = {},
): Promise<RealConsole<OpenaiApi>> {
  const api = await openaiApi({ answer, apiKey: "test-key", models: ["own-model"] });
  const env = { OPENAI_BASE_URL: api.baseUrl, OPENAI_API_KEY: "test-key", OPENAI_MODEL: "own-model" };
  return openWith(api, env, context, view, options);
}

async function openWith<A extends AsyncDisposable>(
  api: A,
  env: Readonly<Record<string, string>>,
  context: BrowserContext,
  view: string,
  options: Partial<SceneOptions>,
): Promise<RealConsole<A>> {
  const scene = await consoleScene({
    servers: {},
    ...options,
    state: {
      findModel: async (wanted, signal) => {
        const choice = await chooseModel({ env, wanted, clock: systemClock, signal });
        if (choice.kind === "model") return choice.model;
        throw new HostError("model", "no model configured", choice.kind === "none" ? { next: choice.next } : {});
      },
    },
  });
  const frames = await ViewFrames.listen(systemClock);
  const listener = await PageListener.listen({ files: builtPage(), clock: systemClock, port: 0, frames });
  const ring = new EventRing();
  const stop = scene.state.onEvent((event) => ring.add(event));
  const door = listener.open({ kind: "console", path: "/", source: scene.state, ring });
  const complaints: string[] = [];
  const open = async (shown = view): Promise<Page> => {
    const page = await context.newPage();
    page.on("pageerror", ({ message }) => complaints.push(message));
    page.on("console", (message) => {
      if (message.type() === "error" && !message.text().startsWith("Failed to load resource"))
        complaints.push(message.text());
    });
    await page.goto(door.newAddress(60_000));
    await page.getByText("live", { exact: true }).first().waitFor();
    await page.evaluate((hash) => {
      location.hash = hash;
    }, shown);
    return page;
  };
  const page = await open();
  return {
    scene,
    api,
    page,
    open,
    complaints,
    async [Symbol.asyncDispose]() {
      await context.close();
      stop();
      await Promise.all([listener.close(), frames.close()]);
      await scene[Symbol.asyncDispose]();
      await api[Symbol.asyncDispose]();
    },
  };
}
