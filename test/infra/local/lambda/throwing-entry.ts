/** Its name is the class's own, so only `keepNames` keeps it. */
class OperationConflict extends Error {
  override get name(): string {
    return this.constructor.name;
  }
}

export const handler = async (): Promise<never> => {
  throw new OperationConflict("other request");
};
