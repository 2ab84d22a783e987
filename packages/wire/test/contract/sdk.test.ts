/** The official client keeps the same contract, but for the differences that are listed. */

import { connectSdk } from "../oracle/sdk-session.ts";
import { describeSession } from "./describe-session.ts";
import { type Difference, differences } from "./differences.ts";
import { legs } from "./legs.ts";

const differs = new Set(Object.keys(differences) as Difference[]);

for (const leg of legs) describeSession({ name: "the SDK", open: connectSdk, differs }, leg);
