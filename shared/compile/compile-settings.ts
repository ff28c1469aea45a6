/** Settings of the deployment that the states depend on. Whole seconds. */
export interface CompileSettings {
  /** Timeout of the step function. Every node's own time fits into it. */
  readonly stepTimeoutSeconds: number;
  /** How long an operation that nobody can clear waits for a person before the run is parked. */
  readonly resolutionWaitSeconds: number;
}

export const compileSettingsDefault: CompileSettings = {
  stepTimeoutSeconds: 120,
  resolutionWaitSeconds: 30 * 24 * 3600,
};
