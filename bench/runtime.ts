/** The processes of workerd that this process started: their CPU time and their memory. Only Linux says. */
import { readdirSync, readFileSync } from 'node:fs';

/** Process ids. */
export function runtimes(): number[] {
  return list('/proc').filter((pid) => {
    const [, name, parent] = /\((.*)\) \S (\d+)/.exec(read(`/proc/${pid}/stat`)) ?? [];
    return name === 'workerd' && Number(parent) === process.pid;
  });
}

/** CPU time of processes, in ms. Without Linux the clock stands in for it. */
export function cpuMs(pids: number[]): number {
  const threads = pids.flatMap((pid) => list(`/proc/${pid}/task`).map((id) => `${pid}/task/${id}`));
  if (threads.length === 0) return performance.now();
  const nanoseconds = threads.map((thread) =>
    Number.parseInt(read(`/proc/${thread}/schedstat`), 10),
  );
  return nanoseconds.reduce((sum, each) => sum + (each || 0), 0) / 1e6;
}

/** Resident memory of a process, in MiB. */
export function memoryMiB(pid: number): number {
  return Number(/^VmRSS:\s+(\d+)/m.exec(read(`/proc/${pid}/status`))?.[1] ?? 0) / 1024;
}

function list(folder: string): number[] {
  try {
    return readdirSync(folder).map(Number).filter(Number.isInteger);
  } catch {
    return [];
  }
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    // The process or thread has ended, or this is not Linux.
    return '';
  }
}
