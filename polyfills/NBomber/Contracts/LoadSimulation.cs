namespace NBomber.Contracts;

/// <summary>Made by <see cref="CSharp.Simulation"/>.</summary>
public abstract class LoadSimulation
{
    private LoadSimulation()
    {
    }

    internal sealed class RampingConstant(int copies, TimeSpan during) : LoadSimulation
    {
        public int Copies => copies;

        public TimeSpan During => during;
    }

    internal sealed class KeepConstant(int copies, TimeSpan during) : LoadSimulation
    {
        public int Copies => copies;

        public TimeSpan During => during;
    }

    internal sealed class IterationsForConstant(int copies, int iterations) : LoadSimulation
    {
        public int Copies => copies;

        public int Iterations => iterations;
    }

    internal sealed class IterationsForInject(int rate, TimeSpan interval, int iterations) : LoadSimulation
    {
        public int Rate => rate;

        public TimeSpan Interval => interval;

        public int Iterations => iterations;
    }

    internal sealed class RampingInject(int rate, TimeSpan interval, TimeSpan during) : LoadSimulation
    {
        public int Rate => rate;

        public TimeSpan Interval => interval;

        public TimeSpan During => during;
    }

    internal sealed class Inject(int rate, TimeSpan interval, TimeSpan during) : LoadSimulation
    {
        public int Rate => rate;

        public TimeSpan Interval => interval;

        public TimeSpan During => during;
    }

    internal sealed class InjectRandom(int minRate, int maxRate, TimeSpan interval, TimeSpan during) : LoadSimulation
    {
        public int MinRate => minRate;

        public int MaxRate => maxRate;

        public TimeSpan Interval => interval;

        public TimeSpan During => during;
    }

    internal sealed class Pause(TimeSpan during) : LoadSimulation
    {
        public TimeSpan During => during;
    }
}
