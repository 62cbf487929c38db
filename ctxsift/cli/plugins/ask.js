import { spawn } from "node:child_process";

const PROGRAM = "CTXSIFT";
// What is shorter is never shortened; an answer is much shorter than that.
const SHORTEST_BYTES = 4096;
const LONGEST_ANSWER = 4_000_000;
const HOOK_MS = 10_000;

/**
 * Return the text of an answer; undefined where there is none.
 *
 * @param {string | undefined} answer
 * @returns {string | undefined}
 */
function textOf(answer) {
  const text = answer ? JSON.parse(answer).text : undefined;
  return typeof text === "string" && text ? text : undefined;
}

/**
 * Run ctxsift and return what it prints; undefined where it is missing, fails, or takes too long. It never rejects,
 * unless it cannot be started at all.
 *
 * @param {string[]} words
 * @param {string} input
 * @param {number} limitMs
 * @param {AbortSignal} [signal]
 * @returns {Promise<string | undefined>}
 */
function ask(words, input, limitMs, signal) {
  return new Promise((resolve) => {
    const child = spawn(PROGRAM, words, { stdio: ["pipe", "pipe", "ignore"] });
    /** @type {Buffer[]} */
    const chunks = [];
    let size = 0;
    /** @param {string | undefined} answer */
    const end = (answer) => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", stop);
      resolve(answer);
    };
    const stop = () => {
      child.kill("SIGKILL");
      // Who was started by it may hold its output open.
      child.stdout.destroy();
      end(undefined);
    };
    const timer = setTimeout(stop, limitMs);
    signal?.addEventListener("abort", stop);
    child.on("error", () => end(undefined));
    child.stdin.on("error", () => undefined);
    child.stdout.on("error", () => undefined);
    child.stdout.on("data", (chunk) => {
      size += chunk.length;
      if (size > LONGEST_ANSWER) stop();
      else chunks.push(chunk);
    });
    child.on("close", (code) => end(code === 0 ? Buffer.concat(chunks).toString() : undefined));
    child.stdin.end(input);
  });
}
