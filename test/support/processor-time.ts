/** Processor time that this process has used, in milliseconds: unlike the clock, it does not run while others work. */
export function processorTime(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
