/** Named numbers of an agent. Rejects `UnavailableError`. */
export interface Counters {
  /**
   * Adds to a counter, which starts at 0, and resolves its new value. Atomic: no addition is lost, however many add at
   * once. One whose answer was lost on the way, and which was therefore sent again, may be counted twice.
   */
  bump(agent: string, name: string, by: number): Promise<number>;
  get(agent: string, name: string): Promise<number>;
}
