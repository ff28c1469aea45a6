/** Version of the shape in which a run's log is stored. Raised with every change that older code would misread. */
export const checkpointSchemaVersion = 1;

/** Shapes that this code reads. */
export const readableCheckpointSchemas: readonly number[] = [1];
