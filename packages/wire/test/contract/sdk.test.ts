/** The official client keeps the same contract, but for the differences that are listed. */

import { scaled } from "@fairlead/test-servers";
import { connectSdk } from "../oracle/sdk-session.ts";
import { describeContract } from "./describe-session.ts";
import { type Difference, differences } from "./differences.ts";
import { legs } from "./legs.ts";

const differs = new Set(Object.keys(differences) as Difference[]);

/** A pipe and the web, each in another era; all legs with `--long`. */
const few = legs.filter(({ transport, era }) => (era === "legacy" ? transport === "stdio" : transport === "http"));
const isWhole = scaled(legs.length) === legs.length;

describeContract({ name: "the SDK", open: connectSdk, differs }, isWhole ? legs : few);
