namespace HdrHistogram;

public interface IRecorder
{
    void RecordValue(long value);

    void RecordValueWithCount(long value, long count);

    void RecordValueWithExpectedInterval(long value, long expectedIntervalBetweenValueSamples);
}
