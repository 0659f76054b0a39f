using NBomber.Contracts;

namespace NBomber.CSharp;

public static class Simulation
{
    public static LoadSimulation KeepConstant(int copies, TimeSpan during) =>
        new LoadSimulation.KeepConstant(copies, during);

    public static LoadSimulation RampingInject(int rate, TimeSpan interval, TimeSpan during) =>
        new LoadSimulation.RampingInject(rate, interval, during);

    public static LoadSimulation Inject(int rate, TimeSpan interval, TimeSpan during) =>
        new LoadSimulation.Inject(rate, interval, during);

    public static LoadSimulation Pause(TimeSpan during) => new LoadSimulation.Pause(during);
}
