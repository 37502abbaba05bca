// SPDX-License-Identifier: Apache-2.0
// The types of tape.mjs, which says what everything is for.

export type Kind = "tool" | "model" | "clock" | "random";
export type Mode = "replay" | "replay+record" | "record";

/** What JSON holds; large integers are BigInt, Float is a number spelled with a fraction. */
export type Json = null | boolean | string | number | bigint | Float | Json[] | { [name: string]: Json };

export class TapeError extends Error {}

/** A place where recorded and live arguments differ; both are JSON text, absent where there is nothing. */
export interface Difference {
  path: string;
  recorded?: string;
  live?: string;
}

/** The members that an error of POST /v1/call has. */
export interface VerdictDetails {
  call?: number;
  seq?: number;
  kind?: Kind;
  tool?: string;
  key?: string;
  expected?: string;
  differences?: Difference[];
  nearest?: { seq: number; tool: string; key: string; why: string };
  recorded_args?: Json;
  live_args?: Json;
  fix?: string;
}

export class Verdict extends TapeError {
  constructor(message: string, details?: VerdictDetails);
  readonly verdict: "drift" | "miss" | "exhausted" | "gap";
  readonly details: VerdictDetails;
  readonly differences: Difference[];
}
export class Drift extends Verdict {}
export class Miss extends Verdict {}
export class Exhausted extends Verdict {}
export class Gap extends Verdict {}

/** The call would have to run live and may not; the message says what to do. */
export class Refused extends TapeError {}

export class Unclean extends TapeError {
  constructor(message: string, stats: Stats);
  readonly stats: Stats;
}

export class RecordedError extends Error {
  constructor(of?: { message?: string; code?: string; type?: string; seq?: number; result?: Json });
  readonly recordedMessage: string;
  readonly code: string;
  readonly type: string;
  readonly seq: number;
  readonly result: Json;
}

export class Float {
  constructor(value: number);
  readonly value: number;
  valueOf(): number;
}

export function float(value: number): Float;
export function parse(text: string): Json;
export function dump(value: unknown): string;
export function canonical(text: string): string;
export function key(tool: string, args: unknown): string;
export function keyOfText(tool: string, text: string): string;

export interface Stats {
  mode: "strict" | "replay+record" | "record" | "served";
  steps: number;
  tape_hits: number;
  tape_misses: number;
  live_tool_calls: number;
  real_side_effects: number;
  drift_events: number;
  exhausted: number;
  gaps: number;
  reordered: number;
  redacted_served: number;
  expired_served: number;
  unconsumed: number;
}

export interface SessionOptions {
  mode?: Mode;
  /** Returns what may be kept of arguments, results and messages of errors; leaves alone what it returned before. */
  redact?: (value: Json) => unknown;
  /** The kinds of the records that count; all if not given. */
  kinds?: Iterable<Kind>;
  /** The server to ask: that of TAPE_URL if not given, "" for none. */
  url?: string;
  /** Told of each call that a replay runs live; without it, standard error is. */
  audit?: (entry: { tool: string; key: string; side_effect: boolean | null; ms: number; failed: boolean }) => void;
}

export interface CallOptions {
  kind?: Kind;
  /** Whether the call changes the world; what the tape says of the tool if not given. */
  sideEffect?: boolean;
  /** Classes of errors, thrown in place of a RecordedError whose type has their name. */
  errors?: (new (message: string, options?: ErrorOptions) => Error)[];
}

export interface ToolOptions extends CallOptions {
  /** The name of the tool, that of the method if not given. */
  name?: string;
}

export type Tool<A extends unknown[], R> = (...args: A) => Promise<Awaited<R>>;
export type MethodDecorator<A extends unknown[], R> = (
  method: (this: any, ...args: A) => R,
  context: ClassMethodDecoratorContext,
) => any;

export class Session {
  constructor(file: string | undefined, options?: SessionOptions);
  readonly mode: Stats["mode"];
  readonly url: string;
  call<A, R>(tool: string, fn: ((args: A) => R) | null, args?: A, options?: CallOptions): Promise<Awaited<R>>;
  tool<A extends unknown[], R>(name: string, fn: (...args: A) => R, options?: CallOptions): Tool<A, R>;
  tool(options?: ToolOptions): MethodDecorator<any[], any>;
  unconsumed(): { seq: number; kind: Kind; tool: string; key: string }[];
  stats(): Stats;
  close(): void;
}

export function session(): Session | undefined;
export function use(session: Session | undefined): void;
export function call<A, R>(tool: string, fn: ((args: A) => R) | null, args?: A, options?: CallOptions): Promise<Awaited<R>>;
export function tool<A extends unknown[], R>(name: string, fn: (...args: A) => R, options?: CallOptions): Tool<A, R>;
export function tool(options?: ToolOptions): MethodDecorator<any[], any>;
