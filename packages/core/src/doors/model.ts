/** What the command and the gateway use of models. */

export { chooseModel, listModels, type ModelChoice, type ModelList } from "../model/choose-model.ts";
export { createManualModel } from "../model/manual.ts";
export type { Model, ModelCall } from "../model/model.ts";
