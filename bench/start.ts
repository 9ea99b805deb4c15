/** A thread that loads a module and tells how much CPU time that took, in ms: see weight.ts. */
import { pathToFileURL } from 'node:url';
import { parentPort, threadId, workerData } from 'node:worker_threads';

const before = process.threadCpuUsage();
await import(`${pathToFileURL(workerData)}?${threadId}`);
const { user, system } = process.threadCpuUsage(before);
parentPort?.postMessage((user + system) / 1000);
