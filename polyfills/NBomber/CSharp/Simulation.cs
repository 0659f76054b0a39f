using NBomber.Contracts;

namespace NBomber.CSharp;

public static class Simulation
{
    public static LoadSimulation RampingConstant(int copies, TimeSpan during) => new LoadSimulation.RampingConstant(copies, during);

    public static LoadSimulation KeepConstant(int copies, TimeSpan during) => new LoadSimulation.KeepConstant(copies, during);

    public static LoadSimulation IterationsForConstant(int copies, int iterations) =>
        new LoadSimulation.IterationsForConstant(copies, iterations);

    public static LoadSimulation IterationsForInject(int rate, TimeSpan interval, int iterations) =>
        new LoadSimulation.IterationsForInject(rate, interval, iterations);

    public static LoadSimulation RampingInject(int rate, TimeSpan interval, TimeSpan during) =>
        new LoadSimulation.RampingInject(rate, interval, during);

    public static LoadSimulation Inject(int rate, TimeSpan interval, TimeSpan during) =>
        new LoadSimulation.Inject(rate, interval, during);

    public static LoadSimulation InjectRandom(int minRate, int maxRate, TimeSpan interval, TimeSpan during) =>
        new LoadSimulation.InjectRandom(minRate, maxRate, interval, during);

    public static LoadSimulation Pause(TimeSpan during) => new LoadSimulation.Pause(during);
}
