namespace NBomber.Domain;

/// <summary>How many copies of a closed phase run when: the count goes to its target in equal steps over the phase.</summary>
internal static class CopySchedule
{
    /// <summary>Each change of the count, counted from the start of the phase; the target is reached before its end.</summary>
    public static IEnumerable<(TimeSpan At, int Copies)> Ramp(int from, int to, TimeSpan during)
    {
        var steps = Math.Abs(to - from);
        for (var step = 1; step <= steps; step++)
        {
            yield return (during * ((step - 1) / (double)steps), from + step * Math.Sign(to - from));
        }
    }
}
